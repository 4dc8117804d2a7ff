import { isObject, isSameJson, parseJson } from '@bowline/machinery';
import type { HSMDevice } from '../api/hsm-device.ts';
import { GROUP } from '../api/names.ts';
import { hasStoredStatus, withoutStatus } from './stored-status.ts';

/**
 * SAVED_SPEC is the annotation in which the migration keeps fields of an HSMDevice that the current definition cannot
 * read, as JSON, from before the definition is replaced until the HSMDevice is rewritten.
 */
export const SAVED_SPEC: string = `${GROUP}/saved-spec`;

/** SavedSpec holds these fields, in the current form. */
interface SavedSpec {
  readonly usb?: readonly unknown[];
  readonly libraryPath?: string;
}

/** Rewritten is an HSMDevice in the current form. */
export interface Rewritten {
  readonly device: HSMDevice;
  /** What was changed; empty if the HSMDevice has the current form. */
  readonly changes: readonly string[];
  /** Why a field cannot be converted. */
  readonly problem?: string;
}

/**
 * fieldsToSave returns the value of the annotation SAVED_SPEC that an HSMDevice needs before its definition is
 * replaced; undefined if it has it already, or needs none.
 */
export function fieldsToSave(device: HSMDevice): string | undefined {
  const older = olderFields(device);
  if (older.usb === undefined && older.libraryPath === undefined) return undefined;
  return isSameJson(savedFields(device), older) ? undefined : JSON.stringify(older);
}

/** rewriteDevice converts an HSMDevice that is stored in an older form. Current fields that are set are kept. */
export function rewriteDevice(device: HSMDevice): Rewritten {
  const changes: string[] = [];
  const fields = { ...savedFields(device), ...olderFields(device) };
  const usb: unknown = device.spec.discovery?.usb;
  let { spec } = device;
  if (usb !== undefined && !Array.isArray(usb)) {
    if (fields.usb === undefined) return { device, changes, problem: UNREADABLE };
    // Validated with the whole object before it is written.
    spec = { ...spec, discovery: { ...spec.discovery, usb: fields.usb } } as HSMDevice['spec'];
    changes.push('convert spec.discovery.usb to a list');
  }
  if (fields.libraryPath !== undefined && spec.pkcs11?.libraryPath === undefined) {
    const { libraryPath } = fields;
    spec = { ...spec, pkcs11: { autoProvision: false, ...spec.pkcs11, libraryPath } };
    changes.push('move spec.pkcs11LibraryPath to spec.pkcs11.libraryPath');
  }
  const { pkcs11LibraryPath: _, ...current } = spec as HSMDevice['spec'] & { readonly pkcs11LibraryPath?: unknown };
  const { [SAVED_SPEC]: saved, ...annotations } = device.metadata?.annotations ?? {};
  if (saved !== undefined) changes.push(`remove the annotation ${SAVED_SPEC}`);
  const rewritten = { ...device, metadata: { ...device.metadata, annotations }, spec: current };
  if (!hasStoredStatus(device)) return { device: rewritten, changes };
  return { device: withoutStatus(rewritten), changes: [...changes, 'drop the stored status'] };
}

const UNREADABLE =
  'the stored value of spec.discovery.usb is one object, which the current definition hides; set spec.discovery.usb to a list, or apply the older definition again and run the migration before it is replaced';

/** olderFields returns the fields that are readable in their older form. */
function olderFields({ spec }: HSMDevice): SavedSpec {
  const usb: unknown = spec.discovery?.usb;
  const libraryPath = (spec as { readonly pkcs11LibraryPath?: unknown }).pkcs11LibraryPath;
  return {
    // Once the definition is replaced, the members are hidden, and the object is empty.
    ...(isObject(usb) && Object.keys(usb).length > 0 ? { usb: [usb] } : {}),
    ...(typeof libraryPath === 'string' && libraryPath !== '' ? { libraryPath } : {}),
  };
}

/** Anyone who may change the HSMDevice may change the annotation too, so it is only parsed, and validated later. */
function savedFields({ metadata }: HSMDevice): SavedSpec {
  const text = metadata?.annotations?.[SAVED_SPEC];
  const saved = text === undefined ? undefined : parsed(text);
  if (!isObject(saved)) return {};
  const { usb, libraryPath } = saved;
  return {
    ...(Array.isArray(usb) ? { usb } : {}),
    ...(typeof libraryPath === 'string' ? { libraryPath } : {}),
  };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text).value;
  } catch {
    return undefined;
  }
}
