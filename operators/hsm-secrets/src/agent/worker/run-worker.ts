import { once } from 'node:events';
import { basename, dirname } from 'node:path';
import { BowlineError, type Clock, systemClock } from '@bowline/machinery';
import { loadPkcs11 } from '../../pkcs11/load-pkcs11.ts';
import { Pkcs11Module } from '../../pkcs11/pkcs11-module.ts';
import { LocalTokenService } from '../../token/local-token-service.ts';
import { pinAttemptsFile } from '../../token/pin/pin-attempts-file.ts';
import { mountedPin, type PinSource } from '../../token/pin/pin-source.ts';
import { TokenError } from '../../token/token-error.ts';
import type { TokenService } from '../../token/token-service.ts';
import { describeUnexpected } from '../describe-unexpected.ts';
import { disableCoreDumps } from './disable-core-dumps.ts';
import type { ProvisionedToken, WorkerConfig, WorkerRequest, WorkerResponse } from './worker-messages.ts';

const CRASHED = 70;

/**
 * runWorker executes the calls of the parent process, which sends one at a time, until the parent disconnects or
 * disappears. A token's module may crash or block the process: the parent notices both.
 */
export async function runWorker(): Promise<void> {
  if (!process.send) {
    throw new BowlineError(
      'BOWLINE_HSM_WORKER_WITHOUT_PARENT',
      'cannot run the worker of an agent alone: run "hsm-secrets agent", which starts it',
    );
  }
  const send = (message: WorkerResponse, sent: () => void = () => {}): void =>
    void process.send?.(message, undefined, {}, sent);
  // Node would print the error; the parent logs this instead.
  const crash = (error: unknown): void =>
    send({ kind: 'crashed', ...describeUnexpected(error) }, () => process.exit(CRASHED));
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  let service: TokenService | undefined;
  process.on('message', (message: WorkerRequest) => {
    if (message.kind === 'configure') {
      service = workerService(message.config, (token) => send({ kind: 'provisioned', token }));
      send({ kind: 'ready', coreDumps: disableCoreDumps() ? 'off' : 'on' });
    } else if (service) {
      void respond(service, message).then((response) => send(response));
    }
  });
  // A terminal sends signals to all processes. The parent lets the current call end, and disconnects.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});
  await once(process, 'disconnect');
}

async function respond(
  service: TokenService,
  { id, method, args }: WorkerRequest & { readonly kind: 'call' },
): Promise<WorkerResponse> {
  try {
    // The parent calls the methods of the same interface.
    const call = service[method].bind(service) as (...args: readonly unknown[]) => Promise<unknown>;
    return { kind: 'result', id, value: await call(...args) };
  } catch (error) {
    if (error instanceof TokenError) return { kind: 'refused', id, problem: error.problem, message: error.message };
    return { kind: 'failed', id, ...describeUnexpected(error) };
  }
}

/** workerService returns the token that a configuration describes. Nothing is opened yet. */
function workerService(
  config: WorkerConfig,
  provisioned: (token: ProvisionedToken) => void,
  clock: Clock = systemClock,
): TokenService {
  const { library, pkcs11js, tokenLabel, serialNumber, slotId, autoProvision, soPinFile } = config;
  const pin = pinIn(config.pinFile);
  const soPin = soPinFile === undefined ? () => undefined : () => required(pinIn(soPinFile), soPinFile);
  const module = new Pkcs11Module({
    load: () => loadPkcs11({ library, pkcs11js }),
    choice: { tokenLabel, serialNumber, slotId },
    provisioning: autoProvision ? { pin: () => required(pin, config.pinFile), soPin, provisioned } : undefined,
  });
  return new LocalTokenService({
    open: () => module.open(),
    pin,
    attempts: pinAttemptsFile(config.stateFolder),
    clock,
  });
}

function pinIn(file: string): PinSource {
  return mountedPin(dirname(file), basename(file));
}

function required(source: PinSource, file: string): Buffer {
  const pin = source.current();
  if (pin) return pin;
  throw new TokenError('PINMissing', `cannot initialize the blank token: ${file} is missing or empty`);
}
