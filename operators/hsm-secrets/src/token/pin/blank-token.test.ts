import { expect, it } from 'vitest';
import type { TokenFlags } from '../token.ts';
import { blankTokenToProvision } from './blank-token.ts';

const token = (isUserPinInitialized: boolean): TokenFlags => ({
  isUserPinInitialized,
  isPinCountLow: false,
  isPinFinalTry: false,
  isPinLocked: false,
});
const [BLANK, OTHER_BLANK, USED] = [token(false), token(false), token(true)];

it.each<readonly [string, readonly TokenFlags[], TokenFlags | undefined, TokenFlags | undefined]>([
  ['no token', [], undefined, undefined],
  ['the only token, if it is blank', [BLANK], undefined, BLANK],
  ['the chosen token, if it is blank', [BLANK, USED], BLANK, BLANK],
  ['the only blank token, if none was chosen', [USED, BLANK], undefined, BLANK],
  ['no token if two are blank', [BLANK, OTHER_BLANK], undefined, undefined],
  ['no token if two are blank and one was chosen', [BLANK, OTHER_BLANK], BLANK, undefined],
  ['no token if another one was chosen', [BLANK, USED], USED, undefined],
  ['no token that has a PIN', [USED], undefined, undefined],
])('provisions %s', (_, tokens, chosen, expected) => {
  expect(blankTokenToProvision(tokens, chosen)).toBe(expected);
});
