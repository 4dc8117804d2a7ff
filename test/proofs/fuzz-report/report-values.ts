import { integerBelow, pick, type Random } from '@bowline/machinery';

/** chance returns true with the given probability. */
export function chance(random: Random, share: number): boolean {
  return random.next() < share;
}

const NODES = ['node-1', 'node-2', 'node-3', 'a.b', 'n'.repeat(253), 'n'.repeat(254), 'ä', '\ud800', '', '__proto__'];

const SERIALS = [
  'DC6A33145E23A42A',
  '1',
  '2',
  '0',
  'a b/c',
  's'.repeat(128),
  's'.repeat(129),
  '😀'.repeat(128),
  '😀'.repeat(129),
  '\ud800',
  '\udc00',
  '\ufffd',
  '__proto__',
  'constructor',
  'node-1:/dev/a',
  '\u0000',
  '',
];

const DEVICE_PATHS = [
  '/dev/bus/usb/001/015',
  '/dev/a',
  '/dev/b',
  'x',
  `/dev/${'p'.repeat(1_019)}`,
  `/dev/${'p'.repeat(1_020)}`,
  '😀'.repeat(1_024),
  '😀'.repeat(1_025),
  '/dev/\n',
  '/dev/\udfff',
  '',
];

const TIMES = [
  '2025-08-19T10:00:00Z',
  '2025-08-19T10:00:00.000001Z',
  '2025-08-19T23:59:59.999999999+14:00',
  '2024-02-29T00:00:00-23:59',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  `2025-08-19T10:00:00.${'1'.repeat(1_003)}Z`,
  `2025-08-19T10:00:00.${'1'.repeat(1_004)}Z`,
  '2025-02-29T00:00:00Z',
  '2025-13-01T00:00:00Z',
  '2025-00-10T00:00:00Z',
  '2025-08-19T24:00:00Z',
  '2025-08-19T10:00:60Z',
  '2025-08-19t10:00:00z',
  '2025-08-19 10:00:00Z',
  '2025-08-19T10:00:00',
  '2025-08-19T10:00:00.Z',
  '2025-08-19T10:00:00+24:00',
  '2025-08-19',
  '20250819T100000Z',
  '1755597600',
  '',
];

const STATUSES = ['completed', 'discovering', 'error', 'Completed', 'done', 'completed ', '', 'toString'];

const ERRORS = ['cannot read /sys', '', 'e'.repeat(1_024), 'e'.repeat(1_025), '😀'.repeat(1_024), '\u0007'];

const INFO_KEYS = [
  'vendorId',
  'productId',
  'product',
  '__proto__',
  'constructor',
  '',
  'k'.repeat(256),
  'k'.repeat(257),
  '\ud800',
];
const INFO_VALUES = ['20a0', 'Pico HSM', '', 'v'.repeat(256), 'v'.repeat(257), '😀'.repeat(256), '\udc00'];

/** Values of a wrong type, and some of the right one. */
const ODD: readonly unknown[] = [null, true, false, 0, -1, 1.5, 1e308, '', 'null', '0', [], {}, [[]], [null], { a: 1 }];

/** What a generator picks: a value of the given length from the start of a list is valid. */
function mostly<T>(random: Random, values: readonly T[], valid: number): T {
  return chance(random, 0.96) ? pick(random, values.slice(0, valid)) : pick(random, values);
}

function randomInfo(random: Random): Record<string, unknown> {
  const count = chance(random, 0.03) ? 15 + integerBelow(random, 4) : integerBelow(random, 4);
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      count > 4 ? `key-${index}` : mostly(random, INFO_KEYS, 7),
      chance(random, 0.01) ? pick(random, ODD) : mostly(random, INFO_VALUES, 4),
    ]),
  );
}

function randomDevice(random: Random): unknown {
  if (chance(random, 0.005)) return pick(random, ODD);
  const device: Record<string, unknown> = { devicePath: mostly(random, DEVICE_PATHS, 5) };
  if (chance(random, 0.8)) device.serialNumber = mostly(random, SERIALS, 6);
  if (chance(random, 0.5)) device.lastSeen = mostly(random, TIMES, 7);
  if (chance(random, 0.3)) device.nodeName = mostly(random, NODES, 5);
  if (chance(random, 0.4)) device.available = chance(random, 0.6);
  if (chance(random, 0.4)) device.deviceInfo = randomInfo(random);
  return withOddMembers(random, device, 0.01);
}

/** withOddMembers replaces, removes or adds members. */
function withOddMembers(random: Random, object: Record<string, unknown>, share: number): Record<string, unknown> {
  const names = Object.keys(object);
  if (chance(random, share)) object[pick(random, names)] = pick(random, ODD);
  if (chance(random, share)) object[pick(random, names)] = undefined;
  if (chance(random, share)) {
    const name = pick(random, ['more', '__proto__', 'constructor', 'Available', '']);
    Object.defineProperty(object, name, { value: pick(random, ODD), enumerable: true });
  }
  return object;
}

/** randomReport returns a report before serialization: most are valid, the others invalid in one or two ways. */
export function randomReport(random: Random): Record<string, unknown> {
  const report: Record<string, unknown> = {
    hsmDeviceName: 'pico-hsm',
    reportingNode: mostly(random, NODES, 5),
    discoveredDevices: Array.from({ length: deviceCount(random) }, () => randomDevice(random)),
    lastReportTime: mostly(random, TIMES, 7),
    discoveryStatus: chance(random, 0.8) ? 'completed' : mostly(random, STATUSES, 3),
  };
  if (chance(random, 0.2)) report.error = mostly(random, ERRORS, 3);
  return withOddMembers(random, report, 0.03);
}

function deviceCount(random: Random): number {
  return chance(random, 0.02) ? integerBelow(random, 60) : integerBelow(random, 5);
}

/** manyDevices returns a report with a given number of small devices, or that often the same one. */
export function manyDevices(random: Random, count: number, isRepeated: boolean): Record<string, unknown> {
  const isBySerial = chance(random, 0.5);
  const available = chance(random, 0.5);
  return {
    hsmDeviceName: 'pico-hsm',
    reportingNode: 'node-1',
    discoveredDevices: Array.from({ length: count }, (_, index) => ({
      devicePath: `/${isRepeated ? 0 : index}`,
      ...(isBySerial ? { serialNumber: `${isRepeated ? 0 : index}` } : {}),
      ...(available ? {} : { available: false }),
    })),
    lastReportTime: '2025-08-19T10:00:00Z',
    discoveryStatus: 'completed',
  };
}
