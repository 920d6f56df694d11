# rehome in a container from scratch: the executable, the libraries that it loads, and nothing else.
#
#   docker build -t rehome .
#   docker run -d --name rehome -p 8080:8080 -v rehome-data:/data rehome
#   docker exec rehome /rehome keys create --plan free --name first
#
# It builds for the machine that it is built on, x64 or arm64.
# Alpine, because an executable for musl is 3 MB smaller in the registry than one for glibc.
FROM docker.io/oven/bun:1.4.5-alpine AS build
WORKDIR /src
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile --ignore-scripts
COPY . .
# What `rehome --version` prints: 1.0.0 where the argument says so, else 1.0.0-dev.
ARG VERSION=unknown
RUN bun run build \
 && bun scripts/licenses.ts --sbom dist/rehome.cdx.json \
 && sh packaging/container/make-root.sh dist/rehome /image \
 && documents=/image/usr/share/doc/rehome && mkdir -p $documents \
 && cp dist/rehome.cdx.json LICENSE $documents \
 && dist/rehome licenses > $documents/notices.txt \
 && chmod 644 $documents/*

FROM scratch
ARG VERSION=unknown
ARG REVISION=unknown
ARG SOURCE=
LABEL org.opencontainers.image.title="rehome" \
      org.opencontainers.image.description="An animal-adoption catalogue as a service" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.source="$SOURCE"
COPY --from=build /image /
# A new volume takes the owner and the mode of this folder.
COPY --from=build --chown=65532:65532 /image/data /data
USER 65532:65532
ENV REHOME_HOST=0.0.0.0 REHOME_DATA=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["/rehome", "health"]
ENTRYPOINT ["/rehome"]
CMD ["serve"]
