import { VirtualClock, WakeSignal } from '@bowline/machinery';
import { silentLog } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import type { SearchSpec } from './device-source.ts';
import type { Findings } from './findings.ts';
import type { FoundDevice } from './found-device.ts';
import { search } from './search.ts';

const PICO: FoundDevice = {
  devicePath: '/dev/bus/usb/001/015',
  serialNumber: 'DC6A33145E23A42A',
  available: true,
  deviceInfo: {},
};

/** Searching is a search in virtual time. */
class Searching implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly wake = new WakeSignal(this.clock);
  readonly findings: (Findings | undefined)[] = [];
  spec: SearchSpec | undefined = { deviceType: 'PicoHSM', discovery: undefined, scanInterval: '30s' };
  scan: () => Promise<readonly FoundDevice[]> = () => Promise.resolve([PICO]);
  scans = 0;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  async start(): Promise<void> {
    const { clock, wake } = this;
    const scan = (): Promise<readonly FoundDevice[]> => {
      this.scans++;
      return this.scan();
    };
    const source = {
      scan,
      changes: async function* () {
        // This source never gives a hint.
      },
    };
    const onFindings = (findings: Findings | undefined): void => void this.findings.push(findings);
    const options = { source, spec: () => this.spec, wake, clock, log: silentLog, onFindings };
    this.#running = search(options, this.#stop.signal);
    await clock.advance(0);
  }

  /** holdScan makes the next scans wait until the returned function is called. */
  holdScan(): (devices: readonly FoundDevice[]) => void {
    let end: (devices: readonly FoundDevice[]) => void = () => {};
    const scan = new Promise<readonly FoundDevice[]>((resolve) => {
      end = resolve;
    });
    this.scan = () => scan;
    return end;
  }

  get statuses(): readonly (string | undefined)[] {
    return this.findings.map((each) => each?.status);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    expect(this.clock.pendingTimers).toBe(0);
  }
}

it('is discovering until the first scan has ended, and scans again at the interval', async () => {
  await using s = new Searching();
  const endScan = s.holdScan();
  await s.start();
  expect(s.findings).toMatchObject([{ status: 'discovering', devices: [] }]);
  endScan([PICO]);
  await s.clock.advance(0);
  expect(s.findings[1]).toEqual({ status: 'completed', devices: [PICO], error: undefined, at: s.clock.now() });
  await s.clock.advance(29_999);
  expect(s.scans).toBe(1);
  await s.clock.advance(1);
  expect(s.scans).toBe(2);
  await s.clock.advance(60_000);
  expect(s.scans).toBe(4);
  expect(s.statuses).toEqual(['discovering', 'completed', 'completed', 'completed', 'completed']);
});

it('scans at once when it is woken, and once for several hints during a scan', async () => {
  await using s = new Searching();
  await s.start();
  s.wake.wake();
  await s.clock.advance(0);
  expect(s.scans).toBe(2);
  const endScan = s.holdScan();
  s.wake.wake();
  await s.clock.advance(0);
  s.wake.wake();
  s.wake.wake();
  endScan([]);
  await s.clock.advance(0);
  expect(s.scans).toBe(4);
});

it('reports an error with its text, and recovers by the next scan', async () => {
  await using s = new Searching();
  s.scan = () => Promise.reject(new Error('cannot read /sys'));
  await s.start();
  expect(s.findings.at(-1)).toMatchObject({ status: 'error', devices: [], error: 'cannot read /sys' });
  s.scan = () => Promise.resolve([PICO]);
  await s.clock.advance(30_000);
  expect(s.findings.at(-1)).toMatchObject({ status: 'completed', devices: [PICO], error: undefined });
});

it('reports a scan that does not end as an error, and starts no other', async () => {
  await using s = new Searching();
  const endScan = s.holdScan();
  await s.start();
  await s.clock.advance(60_000);
  expect(s.findings.at(-1)).toMatchObject({
    status: 'error',
    error: 'the search of the node has not ended after 60 s; check its USB devices and its log',
  });
  s.wake.wake();
  await s.clock.advance(600_000);
  expect(s.scans).toBe(1);
  endScan([PICO]);
  await s.clock.advance(0);
  expect(s.findings.at(-1)).toMatchObject({ status: 'completed', devices: [PICO] });
});

it('waits for something to search for, and begins again after it was missing', async () => {
  await using s = new Searching();
  const { spec } = s;
  s.spec = undefined;
  await s.start();
  await s.clock.advance(3_600_000);
  expect([s.scans, s.findings]).toEqual([0, [undefined]]);
  for (const each of [spec, undefined, spec]) {
    s.spec = each;
    s.wake.wake();
    await s.clock.advance(0);
  }
  expect(s.statuses).toEqual([undefined, 'discovering', 'completed', undefined, 'discovering', 'completed']);
});

it('uses the default interval for a stored one that is invalid', async () => {
  await using s = new Searching();
  s.spec = { deviceType: 'PicoHSM', discovery: undefined, scanInterval: 'often' };
  await s.start();
  await s.clock.advance(30_000);
  expect(s.scans).toBe(2);
});
