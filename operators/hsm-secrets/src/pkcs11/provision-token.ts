import { randomBytes } from 'node:crypto';
import { TokenError } from '../token/token-error.ts';
import type { TokenChoice } from './choose-token.ts';
import { CKF, CKR, CKU, type Pkcs11Api } from './pkcs11-api.ts';
import { codeOf, pkcs11Error } from './pkcs11-error.ts';
import { type FoundToken, findTokens } from './slots.ts';

/** Provisioning configures how a blank token is initialized. */
export interface Provisioning {
  /** pin returns the PIN of the user. The caller of `pin` overwrites it. */
  readonly pin: () => Buffer;
  /** soPin returns the PIN of the security officer; undefined if there is none: a random one is used and discarded. */
  readonly soPin: () => Buffer | undefined;
  /** provisioned is called when the token can be used. */
  readonly provisioned: (token: { readonly label: string; readonly serialNumber: string }) => void;
}

/** The label of a token for which none is configured. */
const DEFAULT_LABEL = 'hsm-secrets';
/** The standard reserves this many bytes for a label. */
const LABEL_BYTES = 32;
/** Flags after which another wrong PIN of the security officer would lock, or has locked, the token for good. */
const SO_PIN_AT_RISK = CKF.SO_PIN_COUNT_LOW | CKF.SO_PIN_FINAL_TRY | CKF.SO_PIN_LOCKED;

/** ProvisioningRefused reports that a token refused the PIN of the security officer. It must not be tried again. */
export class ProvisioningRefused extends TokenError {}

const PIN_REFUSED: ReadonlySet<number | undefined> = new Set([
  CKR.PIN_INCORRECT,
  CKR.PIN_INVALID,
  CKR.PIN_LEN_RANGE,
  CKR.PIN_LOCKED,
]);

/** provisionToken initializes a blank token and sets the PIN of its user. It returns the token in its new slot. */
export function provisionToken(
  api: Pkcs11Api,
  blank: FoundToken,
  { tokenLabel: label = DEFAULT_LABEL }: TokenChoice,
  { pin, soPin, provisioned }: Provisioning,
): FoundToken {
  const serial = `serial number ${blank.serialNumber}`;
  // A token that was never initialized has no such PIN; SoftHSM reports it as locked.
  const hasSoPin = (blank.flags & CKF.TOKEN_INITIALIZED) !== 0;
  if (hasSoPin && (blank.flags & SO_PIN_AT_RISK) !== 0) {
    const problem = 'a wrong PIN of the security officer was entered before; initialize it by hand';
    throw new ProvisioningRefused('TokenNotFound', `cannot initialize the blank token (${serial}): ${problem}`);
  }
  // Read before anything is changed: without a PIN the token could not be completed.
  const userPin = pin();
  // 16 hexadecimal digits are a valid PIN of all known tokens; a SmartCard-HSM accepts no others.
  const officerPin = soPin() ?? Buffer.from(randomBytes(8).toString('hex'));
  try {
    api.C_InitToken(blank.slot, officerPin.toString(), padLabel(label));
    const token = findInitialized(api, label);
    setUserPin(api, token.slot, officerPin.toString(), userPin.toString());
    provisioned({ label, serialNumber: token.serialNumber });
    return token;
  } catch (error) {
    if (!PIN_REFUSED.has(codeOf(error))) throw pkcs11Error(`initialize the blank token (${serial})`, error);
    const problem = 'it refuses the PIN of the security officer; correct soPinSecret, or initialize it by hand';
    throw new ProvisioningRefused('TokenNotFound', `cannot initialize the blank token (${serial}): ${problem}`);
  } finally {
    userPin.fill(0);
    officerPin.fill(0);
  }
}

/** The initialization changes the slot, and with some modules the serial number. */
function findInitialized(api: Pkcs11Api, label: string): FoundToken {
  const found = findTokens(api).find((token) => token.label === label && !token.isUserPinInitialized);
  if (found) return found;
  throw new TokenError('TokenNotFound', `the initialized token ${JSON.stringify(label)} is missing`);
}

function setUserPin(api: Pkcs11Api, slot: Buffer, officerPin: string, userPin: string): void {
  const session = api.C_OpenSession(slot, CKF.SERIAL_SESSION | CKF.RW_SESSION);
  try {
    api.C_Login(session, CKU.SO, officerPin);
    api.C_InitPIN(session, userPin);
    api.C_Logout(session);
  } finally {
    api.C_CloseSession(session);
  }
}

/** The standard pads labels with blanks; pkcs11js would do it with NUL. */
function padLabel(label: string): string {
  return label + ' '.repeat(Math.max(0, LABEL_BYTES - Buffer.byteLength(label)));
}
