import { hash } from 'node:crypto';

/** GROUP is the API group of the kinds; it prefixes the labels, the annotations and the finalizer. They are API. */
export const GROUP = 'hsm.j5t.io';
/** VERSION is the version of all kinds. */
export const VERSION = 'v1alpha1';

/** MAX_DEVICE_NAME_LENGTH leaves room for the suffixes of the names of created objects. */
export const MAX_DEVICE_NAME_LENGTH = 40;

const MAX_LABEL_LENGTH = 63;

/** agentName returns the name of the Deployment of the agent of a physical device. */
export function agentName(device: string, serialNumber: string): string {
  return nameFrom(`hsm-agent-${device}-${serialNumber.toLowerCase()}`, /[^a-z0-9-]/g);
}

/** resourceName returns the extended resource that the device plugin offers for a physical device. */
export function resourceName(serialNumber: string): string {
  return `${GROUP}/${nameFrom(serialNumber, /[^A-Za-z0-9._-]/g)}`;
}

const HASH_DIGITS = 8;

/** nameFrom replaces invalid characters. A name that was changed or is too long gets a hash of the original. */
function nameFrom(text: string, invalid: RegExp): string {
  const trimmed = (name: string): string => name.replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  const replaced = trimmed(text.replace(invalid, '-'));
  if (replaced === text && text.length <= MAX_LABEL_LENGTH) return text;
  const start = trimmed(replaced.slice(0, MAX_LABEL_LENGTH - HASH_DIGITS - 1));
  return [start, hash('sha256', text, 'hex').slice(0, HASH_DIGITS)].filter(Boolean).join('-');
}
