import { isSameJson } from '@bowline/machinery';
import { HSMPool } from '../../../operators/hsm-secrets/src/api/hsm-pool.ts';
import { MAX_DEVICES, MAX_POD_ROWS } from '../../../operators/hsm-secrets/src/api/pool-status.ts';
import type { Aggregation } from '../../../operators/hsm-secrets/src/pool/aggregate.ts';
import type { AggregationInput } from '../../../operators/hsm-secrets/src/pool/aggregation-input.ts';
import type { ParsedReport, Report } from '../../../operators/hsm-secrets/src/reports/report.ts';
import { refusals } from './permitted-report.ts';

const MAX_MESSAGE = 300;

/** parserProblems returns what is wrong with the result of the parser for a text. */
export function parserProblems(text: string, result: ParsedReport): string[] {
  const reasons = refusals(text);
  if ('report' in result)
    return [...reasons.map((reason) => `accepted, but ${reason}`), ...misread(text, result.report)];
  const wrong = reasons.length === 0 ? [`refused, but permitted: ${result.problem}`] : [];
  if (result.problem === '' || result.problem.length > MAX_MESSAGE)
    wrong.push(`the message has ${result.problem.length} characters`);
  if (/[\p{Cc}\p{Surrogate}]/u.test(result.problem))
    wrong.push(`the message has control characters: ${JSON.stringify(result.problem)}`);
  return wrong;
}

/** misread returns where a report differs from its text. */
function misread(text: string, report: Report): string[] {
  const source = JSON.parse(text) as Record<string, unknown>;
  const devices = (source.discoveredDevices ?? []) as readonly Record<string, unknown>[];
  const expected = {
    ...picked(source, ['hsmDeviceName', 'reportingNode', 'lastReportTime', 'discoveryStatus', 'error']),
    discoveredDevices: devices.map((device) => ({
      ...picked(device, ['devicePath', 'serialNumber', 'lastSeen']),
      nodeName: textOf(device.nodeName) ?? textOf(source.reportingNode),
      available: device.available ?? true,
      deviceInfo:
        device.deviceInfo &&
        Object.fromEntries(
          Object.entries(device.deviceInfo).map(([key, value]) => [textOf(key) ?? '', textOf(value) ?? '']),
        ),
    })),
  };
  return isSameJson(withoutNull(expected), report) ? [] : [`misread as ${JSON.stringify(report).slice(0, 400)}`];
}

function picked(source: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, textOf(source[name])]));
}

/** A text as the API server stores it; undefined if it is missing or empty. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? Buffer.from(value).toString() : undefined;
}

function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutNull(each)]));
}

/** aggregationProblems returns what is wrong with an aggregation. */
export function aggregationProblems(input: AggregationInput, result: Aggregation): string[] {
  const { pods, devices, duplicates, nextChangeAt } = result;
  const wrong: string[] = [];
  if (
    !isSorted(
      devices.map(({ id }) => id),
      true,
    )
  )
    wrong.push('devices are not unique and ordered by id');
  if (
    !isSorted(
      pods.map(({ podName }) => podName),
      false,
    )
  )
    wrong.push('pods are not ordered by name');
  if (new Set(pods.map(({ podUID }) => podUID)).size < pods.length) wrong.push('a pod has two rows');
  if (
    !isSorted(
      duplicates.map(({ serialNumber }) => serialNumber),
      true,
    )
  )
    wrong.push('duplicate serial numbers are not unique and ordered');
  for (const { serialNumber, nodeName, otherNodes } of duplicates)
    if (otherNodes.length === 0 || new Set([nodeName, ...otherNodes]).size <= otherNodes.length)
      wrong.push(
        `serial number ${serialNumber.slice(0, 20)} is a duplicate on ${nodeName.slice(0, 9)} and ${otherNodes.length} others, not all different`,
      );
  if (devices.some(({ available, lostSince }) => available && lostSince !== undefined))
    wrong.push('a device is available and lost');
  if (nextChangeAt !== undefined && !(nextChangeAt > input.now && nextChangeAt < Number.POSITIVE_INFINITY))
    wrong.push(`the next change is at ${nextChangeAt}, and now is ${input.now}`);
  return [...wrong, ...statusProblems(result)];
}

/** isSorted compares like the operator: by UTF-16 units. */
function isSorted(names: readonly string[], isStrict: boolean): boolean {
  return names.every((name, index) => {
    const before = names[index - 1];
    return before === undefined || before < name || (!isStrict && before === name);
  });
}

/** A status lists only some of very many pods and devices; the others are counted. */
function statusProblems({ pods, devices }: Aggregation): string[] {
  const status = { reportingPods: pods.slice(0, MAX_POD_ROWS), aggregatedDevices: devices.slice(0, MAX_DEVICES) };
  const pool = { metadata: { name: 'pico-hsm-pool', namespace: 'a' }, spec: { hsmDeviceRef: 'pico-hsm' }, status };
  const problems = HSMPool.validate(pool);
  return problems.slice(0, 1).map(({ field, message }) => `${field}: ${message.slice(0, 200)}`);
}

/** repetitionProblems returns what differs when the same input is aggregated again, on top of its own result. */
export function repetitionProblems(result: Aggregation, repeated: Aggregation): string[] {
  return (['pods', 'devices', 'duplicates', 'nextChangeAt'] as const)
    .filter((name) => !isSameJson(result[name], repeated[name]))
    .map((name) => `${name} change when nothing has changed`);
}
