import { createHash } from 'node:crypto';
import { ENTRY_POINT } from './bowline-layer.ts';
import { type ImageOptions, version } from './image-options.ts';
import type { Layer } from './layer.ts';
import { USER } from './system-layer.ts';

/** SourceState is the commit that an image is built from. */
export interface SourceState {
  /** The time of the commit, in seconds since 1970. */
  readonly time: number;
  /** The commit, with `-dirty` if the work tree differs from it; undefined without git. */
  readonly revision: string | undefined;
}

/** CONTAINER_CONFIG is the part of the configuration that is the same for all images. The Dockerfile repeats it. */
export const CONTAINER_CONFIG = {
  User: `${USER}:${USER}`,
  Env: ['PATH=/usr/sbin:/usr/bin'],
  Entrypoint: [ENTRY_POINT],
  Cmd: ['--help'],
  WorkingDir: '/',
  // The manager drains its controllers and releases its Leases.
  StopSignal: 'SIGTERM',
} as const;

/** STATIC_LABELS are the labels that do not depend on the commit. */
export const STATIC_LABELS = {
  'org.opencontainers.image.title': 'Bowline',
  'org.opencontainers.image.description': 'Five Kubernetes operators and their agents',
  'org.opencontainers.image.licenses': 'Apache-2.0',
} as const;

/** Blob is a file of an image that is named after its content. */
export interface Blob {
  readonly digest: string;
  readonly text: string;
}

/** ImageManifest is the configuration and the manifest of an image. */
export interface ImageManifest {
  readonly config: Blob;
  readonly manifest: Blob;
}

/** imageManifest describes an image of layers, first the one that changes least. */
export function imageManifest(
  { target, platform }: Pick<ImageOptions, 'target' | 'platform'>,
  layers: readonly Layer[],
  source: SourceState,
): ImageManifest {
  const created = new Date(source.time * 1000).toISOString().replace('.000Z', 'Z');
  const [os, architecture] = platform.split('/');
  const config = blob({
    created,
    architecture,
    os,
    config: {
      ...CONTAINER_CONFIG,
      Labels: {
        ...STATIC_LABELS,
        'org.opencontainers.image.version': version(),
        'org.opencontainers.image.created': created,
        ...(source.revision === undefined ? {} : { 'org.opencontainers.image.revision': source.revision }),
        'dev.bowline.image.target': target,
      },
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ name }) => ({ created, created_by: `npm run image: ${name}` })),
  });
  const manifest = blob({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: descriptor('application/vnd.oci.image.config.v1+json', config.digest, Buffer.byteLength(config.text)),
    layers: layers.map(({ digest, size }) => descriptor('application/vnd.oci.image.layer.v1.tar+gzip', digest, size)),
  });
  return { config, manifest };
}

/** imageIndex returns the index.json of an archive, with the names that containerd and others load it under. */
export function imageIndex({ name, platform }: ImageOptions, manifest: Blob): string {
  const [os, architecture] = platform.split('/');
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...descriptor('application/vnd.oci.image.manifest.v1+json', manifest.digest, Buffer.byteLength(manifest.text)),
        annotations: {
          'io.containerd.image.name': name,
          'org.opencontainers.image.ref.name': name.slice(name.lastIndexOf(':') + 1),
        },
        platform: { architecture, os },
      },
    ],
  });
}

/** dockerManifest returns the manifest.json that `docker load` reads. */
export function dockerManifest(name: string, { config }: ImageManifest, layers: readonly Layer[]): string {
  const Layers = layers.map(({ digest }) => blobPath(digest));
  return JSON.stringify([{ Config: blobPath(config.digest), RepoTags: [name], Layers }]);
}

/** blobPath returns the path of a blob in an archive. */
export function blobPath(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`;
}

function descriptor(mediaType: string, digest: string, size: number) {
  return { mediaType, digest, size };
}

function blob(value: unknown): Blob {
  const text = JSON.stringify(value);
  return { text, digest: `sha256:${createHash('sha256').update(text).digest('hex')}` };
}
