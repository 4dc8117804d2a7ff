import type { Clock } from '@bowline/machinery';
import { LocalTokenService } from '../token/local-token-service.ts';
import { SoftwareToken } from '../token/software-token.ts';
import { TokenError } from '../token/token-error.ts';
import type { SecretSummary, TokenService } from '../token/token-service.ts';
import type { Devices } from './devices.ts';

const PIN = '648219';

/** TestDevice is a device with the real layout on a software token. */
export class TestDevice {
  readonly serial: string;
  readonly service: TokenService;
  /** Whether the manager reaches it. */
  isUp = true;
  /** Whether its lists fail, although it can be written. */
  hasReadErrors = false;
  /** The calls that reached it: names of methods, with their paths. */
  readonly calls: string[] = [];

  /** The clock stamps what is written directly. */
  constructor(serial: string, clock: Clock, capacityBytes?: number) {
    this.serial = serial;
    const limit = capacityBytes === undefined ? {} : { capacityBytes };
    const token = new SoftwareToken({ serialNumber: serial, pin: Buffer.from(PIN), ...limit });
    this.service = new LocalTokenService({
      open: () => token.open(),
      pin: { current: () => Buffer.from(PIN), next: () => undefined },
      attempts: { read: () => undefined, write: () => undefined },
      clock,
    });
  }

  /** content returns everything on the device, by path. */
  async content(): Promise<ReadonlyMap<string, SecretSummary>> {
    return new Map((await this.service.list('')).map((summary) => [summary.path, summary]));
  }

  /** token returns the device as the manager reaches it. */
  token(): TokenService {
    const { service } = this;
    const call = <T>(name: string, work: () => Promise<T>): Promise<T> => {
      this.calls.push(name);
      const isFailing = !this.isUp || (this.hasReadErrors && name.startsWith('list'));
      return isFailing ? Promise.reject(new TokenError('Unavailable', 'the device is away')) : work();
    };
    return {
      status: () => service.status(),
      changePin: (newPin) => service.changePin(newPin),
      retryPin: () => service.retryPin(),
      provePin: (nonce) => service.provePin(nonce),
      read: (path) => call(`read ${path}`, () => service.read(path)),
      metadata: (path) => call(`metadata ${path}`, () => service.metadata(path)),
      list: (prefix) => call(`list ${prefix}`, () => service.list(prefix)),
      write: (path, ...rest) => call(`write ${path}`, () => service.write(path, ...rest)),
      remove: (path, ...rest) => call(`remove ${path}`, () => service.remove(path, ...rest)),
      purge: (path, version) => call(`purge ${path}`, () => service.purge(path, version)),
    };
  }
}

/** devicesOf returns devices with the policy Active, the first of which is the primary device. */
export function devicesOf(devices: readonly TestDevice[], change: Partial<Devices> = {}): Devices {
  return {
    policy: 'Active',
    primary: devices[0]?.serial,
    expected: devices.map(({ serial }) => serial),
    tokens: new Map(devices.map((device) => [device.serial, device.token()])),
    ...change,
  };
}

/** valueAt returns the value of the key `value` of a secret on a device; undefined if there is none. */
export async function valueAt(device: TestDevice, path: string): Promise<string | undefined> {
  const summary = (await device.content()).get(path);
  if (!summary || summary.isDeleted) return summary && 'deleted';
  return (await device.service.read(path)).data.value?.toString();
}
