import type { TokenInfo } from '../token/token.ts';
import type { SlotToken } from './choose-token.ts';
import { CKF, CKR, type Pkcs11Api, type Pkcs11TokenInfo } from './pkcs11-api.ts';
import { codeOf } from './pkcs11-error.ts';

/** FoundToken is a token with the handle of its slot. */
export interface FoundToken extends SlotToken, TokenInfo {
  readonly slot: Buffer;
  readonly flags: number;
}

const GONE: ReadonlySet<number | undefined> = new Set([
  CKR.TOKEN_NOT_PRESENT,
  CKR.TOKEN_NOT_RECOGNIZED,
  CKR.DEVICE_REMOVED,
  CKR.DEVICE_ERROR,
  CKR.SLOT_ID_INVALID,
]);

/** findTokens returns the tokens of all slots. A token that disappears meanwhile is omitted. */
export function findTokens(api: Pkcs11Api): readonly FoundToken[] {
  return api.C_GetSlotList(true).flatMap((slot) => {
    try {
      const info = api.C_GetTokenInfo(slot);
      return [{ ...tokenInfo(info), slot, slotId: slotIdOf(slot), flags: info.flags }];
    } catch (error) {
      if (GONE.has(codeOf(error))) return [];
      throw error;
    }
  });
}

/** tokenInfo returns the description of a token without padding. */
export function tokenInfo({ label, serialNumber, manufacturerID, model, flags }: Pkcs11TokenInfo): TokenInfo {
  const has = (flag: number): boolean => (flags & flag) !== 0;
  return {
    label: trim(label),
    serialNumber: trim(serialNumber),
    manufacturer: trim(manufacturerID),
    model: trim(model),
    isUserPinInitialized: has(CKF.USER_PIN_INITIALIZED),
    isPinCountLow: has(CKF.USER_PIN_COUNT_LOW),
    isPinFinalTry: has(CKF.USER_PIN_FINAL_TRY),
    isPinLocked: has(CKF.USER_PIN_LOCKED),
  };
}

/** The standard pads with blanks; some modules do it with NUL. */
function trim(text: string): string {
  return text.replace(/[\0 ]+$/, '');
}

/** A handle is an unsigned long of the machine: 8 bytes, on some systems 4. */
function slotIdOf(slot: Buffer): number {
  return slot.length >= 8 ? Number(slot.readBigUInt64LE()) : slot.readUInt32LE();
}
