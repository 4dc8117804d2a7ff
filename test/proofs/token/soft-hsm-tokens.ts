import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPkcs11 } from '../../../operators/hsm-secrets/src/pkcs11/load-pkcs11.ts';
import { CKF, CKR, CKU, type Pkcs11Api } from '../../../operators/hsm-secrets/src/pkcs11/pkcs11-api.ts';
import { codeOf } from '../../../operators/hsm-secrets/src/pkcs11/pkcs11-error.ts';
import { Pkcs11Module } from '../../../operators/hsm-secrets/src/pkcs11/pkcs11-module.ts';
import { type FoundToken, findTokens } from '../../../operators/hsm-secrets/src/pkcs11/slots.ts';
import { ensurePkcs11js } from '../../support/pkcs11js/ensure-pkcs11js.ts';
import { ensureSoftHsm } from '../../support/softhsm/ensure-softhsm.ts';
import type { Device, TokenKind } from './tokens.ts';

const LABEL = 'proof';
const SO_PIN = 'officer';

/** SoftHsmTokens are devices of SoftHSM2, or why there are none. */
export type SoftHsmTokens = (TokenKind & Disposable) | { readonly skippedBecause: string };

/** softHsmTokens loads SoftHSM2 into this process. There can be one device at a time. */
export async function softHsmTokens(log?: (line: string) => void): Promise<SoftHsmTokens> {
  const softHsm = await ensureSoftHsm(log);
  if ('skippedBecause' in softHsm) return softHsm;
  const pkcs11js = await ensurePkcs11js(log);
  if ('skippedBecause' in pkcs11js) return pkcs11js;
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'bowline-token-proof-'));
  const tokens = join(folder, 'tokens');
  const blueprint = join(folder, 'blueprint');
  mkdirSync(tokens);
  process.env.SOFTHSM2_CONF = join(folder, 'softhsm2.conf');
  writeFileSync(process.env.SOFTHSM2_CONF, `directories.tokendir = ${tokens}\nobjectstore.backend = file\n`);
  const api = loadPkcs11({ library: softHsm.library, pkcs11js: pkcs11js.folder });
  let pinOfBlueprint: string | undefined;
  return {
    name: 'SoftHSM2',
    // It marks wrong PINs, never locks a token, and is as large as its disk.
    supported: ({ pin }) => ({ pin, reportsPinTries: true, capacityBytes: undefined }),
    create: ({ pin }) => {
      finalize(api);
      rmSync(tokens, { recursive: true });
      if (pinOfBlueprint === pin) cpSync(blueprint, tokens, { recursive: true });
      else {
        mkdirSync(tokens);
        initToken(api, pin);
        cpSync(tokens, blueprint, { recursive: true });
        pinOfBlueprint = pin;
      }
      return deviceOf(api);
    },
    [Symbol.dispose]: () => {
      finalize(api);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function deviceOf(api: Pkcs11Api): Device {
  return {
    start: () => {
      finalize(api);
      const module = new Pkcs11Module({ load: () => api, choice: { tokenLabel: LABEL } });
      return { open: () => module.open() };
    },
    info: () => tokenOf(api),
    unplug: () => {
      finalize(api);
      initialize(api);
    },
    enterWrongPin: () => {
      // The login of a process holds for all its sessions.
      finalize(api);
      const session = api.C_OpenSession(tokenOf(api).slot, CKF.SERIAL_SESSION | CKF.RW_SESSION);
      try {
        api.C_Login(session, CKU.USER, 'another program');
      } catch (error) {
        if (codeOf(error) !== CKR.PIN_INCORRECT) throw error;
      } finally {
        finalize(api);
      }
    },
    [Symbol.dispose]: () => finalize(api),
  };
}

function tokenOf(api: Pkcs11Api): FoundToken {
  initialize(api);
  const [token] = findTokens(api).filter(({ label }) => label === LABEL);
  if (token === undefined) throw new Error('the token of the proof has disappeared');
  return token;
}

function initToken(api: Pkcs11Api, pin: string): void {
  initialize(api);
  const [slot] = api.C_GetSlotList(true);
  if (slot === undefined) throw new Error('SoftHSM2 has no slot for a new token');
  api.C_InitToken(slot, SO_PIN, LABEL.padEnd(32));
  const session = api.C_OpenSession(tokenOf(api).slot, CKF.SERIAL_SESSION | CKF.RW_SESSION);
  api.C_Login(session, CKU.SO, SO_PIN);
  api.C_InitPIN(session, pin);
  finalize(api);
}

function initialize(api: Pkcs11Api): void {
  tolerating(CKR.CRYPTOKI_ALREADY_INITIALIZED, () => api.C_Initialize({ flags: CKF.OS_LOCKING_OK }));
}

/** finalize ends everything that a process had open, like its end. */
function finalize(api: Pkcs11Api): void {
  tolerating(CKR.CRYPTOKI_NOT_INITIALIZED, () => api.C_Finalize());
}

function tolerating(code: number, call: () => void): void {
  try {
    call();
  } catch (error) {
    if (codeOf(error) !== code) throw error;
  }
}
