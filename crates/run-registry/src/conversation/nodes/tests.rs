use super::*;

impl Nodes {
    /// How many pieces of this list are no pieces of the other.
    pub(in crate::conversation) fn pieces_apart(&self, other: &Self) -> usize {
        let is_shared = |(at, piece): (usize, &Arc<Vec<Node>>)| {
            other
                .pieces
                .get(at)
                .is_some_and(|other| Arc::ptr_eq(piece, other))
        };
        let shared = self
            .pieces
            .iter()
            .enumerate()
            .filter(|piece| is_shared(*piece));
        self.pieces.len() - shared.count()
    }
}
