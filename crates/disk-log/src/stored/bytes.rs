//! Numbers, texts and what may be missing, one after another.

use std::sync::Arc;

use threadcast_thread_log::position::{Epoch, Seq};

use super::Damage;

pub(super) fn put_number(to: &mut Vec<u8>, number: u64) {
    to.extend_from_slice(&number.to_le_bytes());
}

pub(super) fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    put_number(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

pub(super) fn put_present<T>(
    to: &mut Vec<u8>,
    value: Option<T>,
    put: impl FnOnce(&mut Vec<u8>, T),
) {
    to.push(u8::from(value.is_some()));
    if let Some(value) = value {
        put(to, value);
    }
}

pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Damage> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Damage::Short)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Damage> {
        Ok(u8::from_le_bytes(self.take()?))
    }

    pub(super) fn short(&mut self) -> Result<u32, Damage> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    pub(super) fn number(&mut self) -> Result<u64, Damage> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    pub(super) fn seq(&mut self) -> Result<Seq, Damage> {
        let number = self.number()?;
        Seq::new(number).ok_or(Damage::Number(number, "seq"))
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Damage> {
        let length = self.number()?;
        let length = usize::try_from(length).map_err(|_| Damage::Short)?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Damage::Short)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn text(&mut self) -> Result<Arc<str>, Damage> {
        Ok(std::str::from_utf8(self.bytes()?)?.into())
    }

    pub(super) fn present<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Damage>,
    ) -> Result<Option<T>, Damage> {
        match self.byte()? {
            0 => Ok(None),
            1 => read(self).map(Some),
            other => Err(Damage::Number(other.into(), "mark of a value")),
        }
    }

    pub(super) fn epochs(&mut self) -> Result<Vec<(Epoch, Seq)>, Damage> {
        let count = self.number()?;
        (0..count)
            .map(|_| Ok((Epoch::new(self.text()?), self.seq()?)))
            .collect()
    }

    pub(super) fn end(&self) -> Result<(), Damage> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Damage::Long)
        }
    }
}
