FROM rust:1.95-bookworm AS build
WORKDIR /threadcast
COPY . .
RUN cargo build --release --locked --package threadcast-server --bin threadcast

FROM debian:bookworm-slim
COPY --from=build /threadcast/target/release/threadcast /usr/local/bin/threadcast
RUN install --directory --owner=nobody /var/lib/threadcast
USER nobody
WORKDIR /var/lib/threadcast
VOLUME /var/lib/threadcast
EXPOSE 7878
ENTRYPOINT ["threadcast"]
