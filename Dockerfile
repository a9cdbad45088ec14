# Image with both programs and nothing else. Build it with `docker build --tag tailback .`, then for example:
#
#   docker run --rm --publish 8503:8503 tailback mockserver --listen 0.0.0.0:8503 --preset openai
#   docker run --rm tailback loadgen --simulate --strategy aimd
FROM rust:1.95.0-slim-bookworm AS build
WORKDIR /src
COPY . .
# Static programs run in an empty image. With `--target`, the flag does not apply to build scripts and macros.
RUN target=$(rustc --print host-tuple) \
    && RUSTFLAGS='-C target-feature=+crt-static' cargo build --profile dist --locked --bins --target "$target" \
    && install -d /image/etc/ssl/certs /image/usr/bin /image/usr/share/doc/tailback \
    && install "target/$target/dist/loadgen" "target/$target/dist/mockserver" /image/usr/bin \
    && install -m 644 LICENSE-* THIRD-PARTY-NOTICES.txt /image/usr/share/doc/tailback \
    && install -m 644 /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs \
    && echo 'hosts: files dns' > /image/etc/nsswitch.conf \
    && install -d -m 1777 /image/tmp /image/work

FROM scratch
COPY --from=build /image /
ENV PATH=/usr/bin
WORKDIR /work
USER 65532:65532
EXPOSE 8503
CMD ["mockserver", "--listen", "0.0.0.0:8503"]
