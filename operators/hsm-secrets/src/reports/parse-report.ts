import { InputError, isObject, JsonSyntaxError, parseJson, parseTime, quoteText } from '@bowline/machinery';
import { MAX_DEVICES } from '../api/pool-status.ts';
import {
  DISCOVERY_STATUSES,
  type DiscoveryStatus,
  type ParsedReport,
  type Report,
  type ReportedDevice,
} from './report.ts';

/** MAX_REPORT_LENGTH is the maximum length of a report, in characters. The admission policy has the same limit. */
export const MAX_REPORT_LENGTH = 65_536;

const MAX_DEPTH = 8;
const MAX_TEXT_LENGTH = 1_024;
const MAX_SERIAL_LENGTH = 128;
const MAX_NAME_LENGTH = 253;
const MAX_INFO_ENTRIES = 16;
const MAX_INFO_LENGTH = 256;
/** A problem becomes part of a condition, and its author chooses the names of unknown members. */
const MAX_QUOTED_NAME_LENGTH = 100;

/** Halves of surrogate pairs, also of complete ones: searching for these costs nothing in texts of Latin letters. */
const SURROGATES = /[\ud800-\udfff]/;

/** Problem reports a member that is not as expected. It never leaves this file. */
class Problem extends Error {}

/**
 * parseReport parses the annotation of a discovery pod. It never throws: anything can be in an annotation. A problem
 * names the member. Unknown members are ignored.
 */
export function parseReport(text: string): ParsedReport {
  if (!isShort(text, MAX_REPORT_LENGTH))
    return { problem: `the report has ${[...text].length} characters; the maximum is ${MAX_REPORT_LENGTH}` };
  try {
    // No member is a number: their values do not matter, nor whether they fit into 64 bits.
    const { value, duplicates } = parseJson(text, { maxDepth: MAX_DEPTH, number: () => 0 });
    const [duplicate] = duplicates;
    if (duplicate !== undefined) throw new Problem(`${quotedName(duplicate)} occurs more than once`);
    return { report: reportOf(value) };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { problem: `the report is not JSON: ${error.message}` };
    if (error instanceof Problem) return { problem: error.message };
    throw error;
  }
}

function reportOf(value: unknown): Report {
  const members = objectOf(value, 'the report');
  const reportingNode = textOf(members, 'reportingNode', MAX_NAME_LENGTH);
  const devices = members.discoveredDevices ?? [];
  if (!Array.isArray(devices)) throw new Problem('discoveredDevices must be a list');
  if (devices.length > MAX_DEVICES)
    throw new Problem(`discoveredDevices has ${devices.length} items; the maximum is ${MAX_DEVICES}`);
  return {
    hsmDeviceName: textOf(members, 'hsmDeviceName', MAX_NAME_LENGTH),
    reportingNode,
    discoveredDevices: devices.map((device, index) => deviceOf(device, `discoveredDevices[${index}]`, reportingNode)),
    lastReportTime: timeOf(members, 'lastReportTime') ?? missing('lastReportTime'),
    discoveryStatus: statusOf(textOf(members, 'discoveryStatus', MAX_TEXT_LENGTH)),
    error: optionalText(members, 'error', MAX_TEXT_LENGTH),
  };
}

function deviceOf(value: unknown, at: string, reportingNode: string): ReportedDevice {
  const members = objectOf(value, at);
  const available = members.available ?? true;
  if (typeof available !== 'boolean') throw new Problem(`${at}.available must be true or false`);
  return {
    devicePath: textOf(members, 'devicePath', MAX_TEXT_LENGTH, at),
    serialNumber: optionalText(members, 'serialNumber', MAX_SERIAL_LENGTH, at),
    lastSeen: timeOf(members, 'lastSeen', at),
    nodeName: optionalText(members, 'nodeName', MAX_NAME_LENGTH, at) ?? reportingNode,
    available,
    deviceInfo: infoOf(members.deviceInfo, `${at}.deviceInfo`),
  };
}

function infoOf(value: unknown, at: string): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return undefined;
  const entries = Object.entries(objectOf(value, at));
  if (entries.length > MAX_INFO_ENTRIES)
    throw new Problem(`${at} has ${entries.length} entries; the maximum is ${MAX_INFO_ENTRIES}`);
  const wrong = entries.find(([key, text]) => !isShort(key, MAX_INFO_LENGTH) || !isShort(text, MAX_INFO_LENGTH));
  if (wrong) throw new Problem(`${at} must have texts of at most ${MAX_INFO_LENGTH} characters`);
  return Object.fromEntries(entries.map(([key, text]) => [wellFormed(key), wellFormed(text as string)]));
}

function statusOf(text: string): DiscoveryStatus {
  const status = DISCOVERY_STATUSES.find((each) => each === text);
  if (!status) throw new Problem(`discoveryStatus must be one of ${DISCOVERY_STATUSES.join(', ')}`);
  return status;
}

function objectOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new Problem(`${what} must be an object`);
  return value;
}

function textOf(members: Readonly<Record<string, unknown>>, name: string, maxLength: number, at = ''): string {
  return optionalText(members, name, maxLength, at) ?? missing(pathOf(at, name));
}

/** An empty text is the same as none. */
function optionalText(
  members: Readonly<Record<string, unknown>>,
  name: string,
  maxLength: number,
  at = '',
): string | undefined {
  const value = members[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (!isShort(value, maxLength))
    throw new Problem(`${pathOf(at, name)} must be a text of at most ${maxLength} characters`);
  return wellFormed(value);
}

function timeOf(members: Readonly<Record<string, unknown>>, name: string, at = ''): string | undefined {
  const text = optionalText(members, name, MAX_TEXT_LENGTH, at);
  if (text === undefined) return undefined;
  try {
    parseTime(text);
    return text;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new Problem(`${pathOf(at, name)} must be a time such as 2025-08-19T10:00:00Z`);
  }
}

/** isShort counts characters like the API server and its policies: a surrogate pair is one. */
function isShort(value: unknown, maxLength: number): value is string {
  if (typeof value !== 'string') return false;
  if (value.length <= maxLength) return true;
  return value.length <= 2 * maxLength && [...value].length <= maxLength;
}

/**
 * wellFormed replaces halves of surrogate pairs, which JSON can escape, as the API server does: otherwise the status
 * would never equal what was written, and two devices could have the same id.
 */
function wellFormed(text: string): string {
  return SURROGATES.test(text) ? text.replace(/\p{Surrogate}/gu, '\ufffd') : text;
}

function quotedName(path: string): string {
  if (path.length <= MAX_QUOTED_NAME_LENGTH && /^[\w.[\]-]+$/.test(path)) return path;
  const isLong = path.length > MAX_QUOTED_NAME_LENGTH;
  return quoteText(isLong ? `${path.slice(0, MAX_QUOTED_NAME_LENGTH)}…` : path);
}

function pathOf(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`;
}

function missing(path: string): never {
  throw new Problem(`${path} is missing`);
}
