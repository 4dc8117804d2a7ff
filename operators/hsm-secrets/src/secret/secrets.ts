import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Secret } from '@bowline/kubernetes';
import { changed, managedContent } from '@bowline/runtime';
import { GROUP, LABELS, MANAGER } from '../api/names.ts';
import { checksumOf } from '../token/checksum.ts';
import type { SecretData } from '../token/token-service.ts';

/** SECRET_ANNOTATIONS are the annotations of delivered Secrets. They are API: Secrets in clusters carry them. */
export const SECRET_ANNOTATIONS = {
  /** The name of the HSMSecret. */
  owner: `${GROUP}/hsm-secret`,
  /** A hash of the part of the spec that the content follows from. */
  request: `${GROUP}/request-hash`,
  /** The checksum of the secret on the device that was delivered. */
  deviceChecksum: `${GROUP}/device-checksum`,
  path: `${GROUP}/path`,
  description: `${GROUP}/description`,
  format: `${GROUP}/format`,
  dataType: `${GROUP}/data-type`,
  source: `${GROUP}/source`,
} as const;

const CONTENT_ANNOTATIONS = {
  hash: `${GROUP}/content-checksum`,
  time: `${GROUP}/synced-at`,
  keys: `${GROUP}/keys`,
} as const;

/** PATH_HASH_LABEL finds the Secrets of a path, which may be no label value. */
export const PATH_HASH_LABEL: string = `${GROUP}/path-hash`;

/** SECRET_COMPONENT is the value of the label `app.kubernetes.io/component`. */
export const SECRET_COMPONENT = 'secret';

/** OUR_SECRETS selects delivered Secrets. */
export const OUR_SECRETS: string = `${LABELS.managedBy}=${MANAGER},${PATH_HASH_LABEL}`;

/** The type of a Secret without an explicit one. */
const DEFAULT_TYPE = 'Opaque';

/** secrets defines how delivered content is stored, and what the cache keeps of it: checksums, no values. */
export const secrets = managedContent({
  resource: Secret,
  maps: ['data'],
  // The checksum of the devices, so that both sides can be compared.
  hash: ({ data }) => checksumOf(decoded(data)),
  managers: [MANAGER],
  annotations: CONTENT_ANNOTATIONS,
  operatorAnnotations: SECRET_ANNOTATIONS,
  labelPrefix: `${GROUP}/`,
  more: ({ metadata, type = DEFAULT_TYPE }) => ({
    type,
    ownerUIDs: (metadata?.ownerReferences ?? []).map(({ uid }) => uid),
  }),
});

/** SecretView is the known state of a Secret. */
export type SecretView = ReturnType<typeof secrets.viewOf>;

/** RELEASED_LABELS and RELEASED_ANNOTATIONS are removed from a Secret that is left to the user. */
export const RELEASED_LABELS: readonly string[] = [...Object.values(LABELS), PATH_HASH_LABEL];
export const RELEASED_ANNOTATIONS: readonly string[] = [
  ...Object.values(SECRET_ANNOTATIONS),
  ...Object.values(CONTENT_ANNOTATIONS),
];

/** secretChanged passes updates that change more of a SecretView than its version. */
export const secretChanged = changed(
  ({ resourceVersion: _before, ...before }: SecretView, { resourceVersion: _after, ...after }: SecretView) =>
    !isDeepStrictEqual(before, after),
);

/** pathHash returns the value of the label PATH_HASH_LABEL. */
export function pathHash(path: string): string {
  return hash('sha256', path, 'hex').slice(0, 32);
}

function decoded(data: Readonly<Record<string, string>>): SecretData {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]));
}
