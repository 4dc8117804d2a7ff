import { VirtualClock } from '@bowline/machinery';
import {
  type Interrupter,
  interruptible,
  interruptibleStore,
  tokenWith,
} from '../../../operators/hsm-secrets/src/token/interruption.test-support.ts';
import { LocalTokenService } from '../../../operators/hsm-secrets/src/token/local-token-service.ts';
import type { PinAttemptStore } from '../../../operators/hsm-secrets/src/token/pin/pin-attempts.ts';
import { MemoryPinAttempts, PinSecret } from '../../../operators/hsm-secrets/src/token/pin/pin-guard.test-support.ts';
import type { Token, TokenFlags } from '../../../operators/hsm-secrets/src/token/token.ts';
import { TokenError } from '../../../operators/hsm-secrets/src/token/token-error.ts';
import { Fault } from './faults.ts';
import type { Device, DeviceOptions } from './tokens.ts';

/** Tampering breaks a part below the code under test, to check that the proof notices. */
export interface Tampering {
  token?(token: Token): Token;
  attempts?(store: PinAttemptStore): PinAttemptStore;
}

const NO_FAULT = new Fault('none', 0, 'all');

/**
 * Agent is an agent's pod with its device: processes that are killed and restarted, the mounted PIN Secret, and the
 * record of tried PINs, which outlives a process but not the pod. It observes every PIN that reaches the token.
 */
export class Agent {
  readonly secret: PinSecret;
  /** The PIN that the device has now. */
  devicePin: string;
  /** The service of the current process. */
  service: LocalTokenService;
  fault: Fault = NO_FAULT;
  /** Wrong PINs that should not have been tried. */
  readonly problems: string[] = [];
  /** Whether a fault occurred since the agent was last logged in: then it may wait for a user. */
  isDisturbed = false;
  /** The session of the current process, without faults. */
  session: Token | undefined;
  readonly #device: Device;
  readonly #tampering: Tampering;
  #attempts = new MemoryPinAttempts();
  readonly #refusedInPod = new Set<string>();
  readonly #refusedSinceSuccess = new Set<string>();
  readonly #reportsPinTries: boolean;
  #isRequested = false;

  constructor(device: Device, options: DeviceOptions, tampering: Tampering) {
    this.#device = device;
    this.#reportsPinTries = options.reportsPinTries;
    this.#tampering = tampering;
    this.devicePin = options.pin;
    this.secret = new PinSecret(options.pin);
    this.service = this.#start();
  }

  /** restart replaces the process; with a new pod the record of tried PINs is lost. */
  restart(scope: 'container' | 'pod' = 'container'): void {
    if (scope === 'pod') {
      this.#refusedInPod.clear();
      this.#attempts = new MemoryPinAttempts();
    }
    this.service = this.#start();
  }

  /** retryPin is a user's request to try the current PIN. */
  async retryPin(): Promise<boolean> {
    this.#isRequested = true;
    try {
      return (await this.service.retryPin()).isLoggedIn;
    } finally {
      this.#isRequested = false;
    }
  }

  /** enterWrongPin is another program with a wrong PIN. */
  enterWrongPin(): void {
    this.#device.enterWrongPin();
    this.isDisturbed = true;
  }

  /** flags returns the flags of the device. */
  get flags(): TokenFlags {
    return this.#device.info();
  }

  #start(): LocalTokenService {
    const { token = (each: Token) => each, attempts = (each: PinAttemptStore) => each } = this.#tampering;
    const fault: Interrupter = { run: (callKind, call) => this.fault.run(callKind, call) };
    const process = this.#device.start();
    const open = (): Token => {
      const session = token(this.#observed(process.open()));
      this.session = session;
      return interruptible(session, {
        run: (callKind, call) => this.fault.runOnToken(callKind, call, () => this.#device.unplug()),
      });
    };
    return new LocalTokenService({
      open,
      pin: this.secret,
      attempts: interruptibleStore(attempts(this.#attempts), fault),
      clock: new VirtualClock(),
    });
  }

  #observed(token: Token): Token {
    const attempt = (pin: Buffer, call: () => void): void => {
      try {
        call();
        this.#refusedSinceSuccess.clear();
      } catch (error) {
        if (error instanceof TokenError && error.problem === 'PINIncorrect') this.#refused(pin.toString());
        throw error;
      }
    };
    return tokenWith(token, {
      login: (pin) => attempt(pin, () => token.login(pin)),
      setPin: (oldPin, newPin) => {
        attempt(oldPin, () => token.setPin(oldPin, newPin));
        this.devicePin = newPin.toString();
      },
    });
  }

  #refused(pin: string): void {
    if (this.#isRequested) return;
    if (this.#refusedInPod.has(pin)) this.problems.push(`the PIN ${pin} was tried twice by one pod`);
    else if (this.#refusedSinceSuccess.has(pin) && this.#reportsPinTries)
      this.problems.push(`the PIN ${pin} was tried by two pods, although the token reported a wrong PIN`);
    this.#refusedInPod.add(pin);
    this.#refusedSinceSuccess.add(pin);
  }
}
