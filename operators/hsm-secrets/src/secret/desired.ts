import { hash } from 'node:crypto';
import { contentKeyProblem, MAX_CONTENT_BYTES } from '@bowline/machinery';
import type { HSMSecret } from '../api/hsm-secret.ts';
import { LABELS } from '../api/names.ts';
import type { SecretData, StoredSecret } from '../token/token-service.ts';
import { SyncProblem } from './problem.ts';
import type { DeviceKey } from './resolve-device.ts';
import { PATH_HASH_LABEL, pathHash, SECRET_COMPONENT, secrets } from './secrets.ts';

/** DesiredSecret is the desired state of a Secret. */
export type DesiredSecret = ReturnType<typeof secrets.desired>;

/** Delivery is what is delivered where. */
export interface Delivery {
  readonly object: HSMSecret;
  readonly device: DeviceKey;
  readonly path: string;
}

/** A longer text is truncated: all annotations of an object together are limited. */
const MAX_ANNOTATION_LENGTH = 4_096;

/** desiredSecret returns the Secret for what a device has stored, or why there is none. */
export function desiredSecret(delivery: Delivery, stored: StoredSecret): DesiredSecret | SyncProblem {
  const data = selectedData(delivery.object.spec, stored.data);
  if (data instanceof SyncProblem) return data;
  const { description, format, dataType, source } = stored.metadata;
  const { operatorAnnotations, ...common } = commonDesired(delivery, stored.checksum);
  return secrets.desired({
    ...common,
    content: { data: encoded(data) },
    operatorAnnotations: {
      ...operatorAnnotations,
      description: annotation(description),
      format: annotation(format),
      dataType: annotation(dataType),
      source: annotation(source),
    },
    members: { type: delivery.object.spec.secretType },
  });
}

/** desiredMetadata returns the desired labels and annotations of a Secret whose content stays. */
export function desiredMetadata(delivery: Delivery, deviceChecksum: string): DesiredSecret {
  return secrets.desired(commonDesired(delivery, deviceChecksum));
}

/** requestHash hashes the part of the spec that the content of the Secret follows from. */
export function requestHash({ object, device, path }: Delivery): string {
  const { keys, secretType } = object.spec;
  const request = [device.namespace, device.name, path, secretType, keys?.map(({ from, to }) => [from, to])];
  return hash('sha256', JSON.stringify(request), 'hex').slice(0, 32);
}

function commonDesired(delivery: Delivery, deviceChecksum: string) {
  const { object, device, path } = delivery;
  return {
    labels: {
      [LABELS.name]: 'hsm-secrets-operator',
      [LABELS.component]: SECRET_COMPONENT,
      [LABELS.device]: device.name,
      [PATH_HASH_LABEL]: pathHash(path),
    },
    // All keys are ours: no list of them is needed.
    keys: 'remove',
    operatorAnnotations: {
      owner: object.metadata?.name ?? '',
      request: requestHash(delivery),
      deviceChecksum,
      path,
    },
  } as const;
}

function selectedData({ keys }: Pick<HSMSecret['spec'], 'keys'>, stored: SecretData): SecretData | SyncProblem {
  const entries: [string, Buffer][] = [];
  for (const { from, to } of keys ?? Object.keys(stored).map((key) => ({ from: key, to: key }))) {
    const value = Object.hasOwn(stored, from) ? stored[from] : undefined;
    if (value === undefined)
      return invalidKey(`the secret on the device has no key ${from}; correct spec.keys, or add the key`);
    const problem = contentKeyProblem(to);
    if (problem) return invalidKey(`the key ${to} ${problem}; rename it with spec.keys`);
    if (entries.some(([key]) => key === to)) return invalidKey(`spec.keys has several entries for the key ${to}`);
    entries.push([to, value]);
  }
  const size = entries.reduce((sum, [, value]) => sum + value.length, 0);
  if (size <= MAX_CONTENT_BYTES) return Object.fromEntries(entries);
  return new SyncProblem(
    'TooLarge',
    `the values have ${size} bytes, but a Secret has at most ${MAX_CONTENT_BYTES}; deliver fewer keys with spec.keys, or split the secret`,
  );
}

function invalidKey(message: string): SyncProblem {
  return new SyncProblem('KeyInvalid', message);
}

function encoded(data: SecretData): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, value.toString('base64')]));
}

function annotation(text: string | undefined): string | null {
  return text === undefined ? null : text.slice(0, MAX_ANNOTATION_LENGTH);
}
