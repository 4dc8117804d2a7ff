import { isObject } from '@bowline/machinery';

const MAX_CHARACTERS = 65_536;
const MAX_DEVICES = 1_024;
const MAX_DEPTH = 8;
const STATUSES = new Set<unknown>(['discovering', 'completed', 'error']);

/** The maximum length of each text, in characters. Those with a short one become fields of the pool's status. */
const TEXTS = { hsmDeviceName: 253, reportingNode: 253, error: 1_024 } as const;
const DEVICE_TEXTS = { devicePath: 1_024, serialNumber: 128, nodeName: 253 } as const;
const MAX_TIME = 1_024;
const MAX_INFO_ENTRIES = 16;
const MAX_INFO = 256;

/**
 * refusals returns why a text is not a report, and an empty list for a report. It is written independently of the
 * parser, on JSON.parse: a member that is null or an empty text counts as missing, and unknown members are ignored.
 */
export function refusals(text: string): string[] {
  if (characters(text) > MAX_CHARACTERS) return ['too long'];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return ['not JSON'];
  }
  const { depth, duplicate } = structure(text);
  if (depth > MAX_DEPTH) return [`depth ${depth}`];
  if (duplicate !== undefined) return [`two members ${duplicate.slice(0, 20)}`];
  if (!isObject(value)) return ['not an object'];
  const devices = value.discoveredDevices ?? [];
  return [
    ...['hsmDeviceName', 'reportingNode', 'lastReportTime', 'discoveryStatus']
      .filter((name) => isMissing(value[name]))
      .map((name) => `no ${name}`),
    ...textRefusals(value, TEXTS),
    ...timeRefusals(value, 'lastReportTime'),
    ...(isMissing(value.discoveryStatus) || STATUSES.has(value.discoveryStatus) ? [] : ['unknown discoveryStatus']),
    ...(Array.isArray(devices) ? devices.flatMap(deviceRefusals) : ['devices are not a list']),
    ...(Array.isArray(devices) && devices.length > MAX_DEVICES ? ['too many devices'] : []),
  ];
}

function deviceRefusals(device: unknown): string[] {
  if (!isObject(device)) return ['a device is not an object'];
  const { available } = device;
  return [
    ...(isMissing(device.devicePath) ? ['a device without a path'] : []),
    ...textRefusals(device, DEVICE_TEXTS),
    ...timeRefusals(device, 'lastSeen'),
    ...(available === undefined || available === null || typeof available === 'boolean' ? [] : ['available']),
    ...infoRefusals(device.deviceInfo),
  ];
}

function infoRefusals(info: unknown): string[] {
  if (info === undefined || info === null) return [];
  if (!isObject(info)) return ['deviceInfo is not an object'];
  const entries = Object.entries(info);
  if (entries.length > MAX_INFO_ENTRIES) return ['deviceInfo is too large'];
  return entries.some(
    ([key, value]) => characters(key) > MAX_INFO || typeof value !== 'string' || characters(value) > MAX_INFO,
  )
    ? ['an entry of deviceInfo']
    : [];
}

function textRefusals(object: Readonly<Record<string, unknown>>, limits: Readonly<Record<string, number>>): string[] {
  return Object.entries(limits).flatMap(([name, limit]) => {
    const value = object[name];
    if (isMissing(value)) return [];
    return typeof value !== 'string' || characters(value) > limit ? [name] : [];
  });
}

function timeRefusals(object: Readonly<Record<string, unknown>>, name: string): string[] {
  const value = object[name];
  if (isMissing(value)) return [];
  return typeof value === 'string' && value.length <= MAX_TIME && isTime(value) ? [] : [name];
}

/** isTime reports whether a text is a time of RFC 3339 as Go parses it: in capital letters, without leap seconds. */
function isTime(text: string): boolean {
  const [, day, time] =
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/.exec(text) ?? [];
  if (day === undefined || time === undefined || time > '23:59:59') return false;
  const date = new Date(`${day}T${time}Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString() === `${day}T${time}.000Z`;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function characters(text: string): number {
  return Array.from(text).length;
}

/** structure returns the depth of a text that is JSON, and a member that occurs twice in its object. */
function structure(text: string): { readonly depth: number; readonly duplicate: string | undefined } {
  const open: Set<string>[] = [];
  let depth = 0;
  let duplicate: string | undefined;
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"\s*:?|[{}[\]]/g)) {
    if (token === '{' || token === '[') depth = Math.max(depth, open.push(new Set()));
    else if (token === '}' || token === ']') open.pop();
    else if (token.endsWith(':')) {
      const name = JSON.parse(token.slice(0, -1)) as string;
      if (open.at(-1)?.has(name)) duplicate ??= name;
      open.at(-1)?.add(name);
    }
  }
  return { depth, duplicate };
}
