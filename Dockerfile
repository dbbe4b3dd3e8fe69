# The image holds the self-contained archive of `npm run release`, on a base with only the C library and a shell.
FROM node:26.10.0-bookworm AS build
WORKDIR /build
COPY package.json package-lock.json ./
COPY web/package.json web/
RUN npm ci
COPY . .
RUN node release.ts \
  && mkdir /muster \
  && tar -xzf release/muster-*-linux-*.tar.gz -C /muster --strip-components=1

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Muster" org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --system --uid 10001 --no-create-home muster && install -d -o muster -g muster -m 0700 /data
COPY --from=build /muster /opt/muster
ENV MUSTER_HOST=0.0.0.0 MUSTER_DATABASE_URL=sqlite:/data/muster.db
USER 10001
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["/opt/muster/bin/node", "-e", "fetch('http://127.0.0.1:8080/livez').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/opt/muster/muster"]
CMD ["serve"]
