import { expect, it } from 'vitest';
import type { TokenFlags } from '../token.ts';
import { decideLogin, type LoginDecision, type LoginInput } from './decide-login.ts';

const CLEAR: TokenFlags = {
  isUserPinInitialized: true,
  isPinCountLow: false,
  isPinFinalTry: false,
  isPinLocked: false,
};
const BLANK = { ...CLEAR, isUserPinInitialized: false };
const LOW = { ...CLEAR, isPinCountLow: true };
const FINAL = { ...LOW, isPinFinalTry: true };
const LOCKED = { ...FINAL, isPinLocked: true };

const CURRENT = { pin: 'current' } as const;
const NEXT = { pin: 'next' } as const;
const problem = (kind: Extract<LoginDecision, { problem: unknown }>['problem']) => ({ problem: kind });

it.each<readonly [string, Partial<LoginInput>, LoginDecision]>([
  ['a new PIN', {}, CURRENT],
  ['a new PIN and a next one', { next: 'untried' }, CURRENT],
  ['no PIN', { current: 'missing' }, problem('PINMissing')],
  ['no PIN but a next one', { current: 'missing', next: 'untried' }, problem('PINMissing')],
  ['no PIN, by force', { current: 'missing', isForced: true }, problem('PINMissing')],
  ['a blank token', { flags: BLANK }, problem('TokenNotFound')],
  ['a blank token, by force', { flags: BLANK, isForced: true }, problem('TokenNotFound')],
  ['a locked token', { flags: LOCKED }, problem('PINLocked')],
  ['a locked token, by force', { flags: LOCKED, isForced: true }, problem('PINLocked')],
  ['a locked token and no PIN', { flags: LOCKED, current: 'missing' }, problem('PINLocked')],
  ['the final try', { flags: FINAL }, problem('PINFinalTry')],
  ['the final try after a refusal', { flags: FINAL, current: 'refused' }, problem('PINFinalTry')],
  ['the final try with a changed PIN', { flags: FINAL, hasOtherAttempts: true }, problem('PINFinalTry')],
  ['the final try, by force', { flags: FINAL, isForced: true }, CURRENT],
  ['a low count of unknown origin', { flags: LOW }, problem('PINUncertain')],
  ['a low count of unknown origin and a next PIN', { flags: LOW, next: 'untried' }, problem('PINUncertain')],
  ['a low count, by force', { flags: LOW, isForced: true }, CURRENT],
  ['a changed PIN after our own attempt', { flags: LOW, hasOtherAttempts: true }, CURRENT],
  ['a changed PIN on a token without flags', { hasOtherAttempts: true }, CURRENT],
  ['an interrupted attempt', { current: 'unknown' }, problem('PINUncertain')],
  ['an interrupted attempt and a low count', { flags: LOW, current: 'unknown' }, problem('PINUncertain')],
  ['an interrupted attempt and a next PIN', { current: 'unknown', next: 'untried' }, problem('PINUncertain')],
  ['an interrupted attempt, by force', { current: 'unknown', isForced: true }, CURRENT],
  ['a refused PIN', { current: 'refused' }, problem('PINIncorrect')],
  ['a refused PIN and a low count', { flags: LOW, current: 'refused' }, problem('PINIncorrect')],
  ['a refused PIN, by force', { flags: LOW, current: 'refused', isForced: true }, CURRENT],
  ['a refused PIN and a next one', { current: 'refused', next: 'untried' }, NEXT],
  [
    'a refused PIN and a next one, after restart',
    { flags: LOW, current: 'refused', next: 'untried' },
    problem('PINIncorrect'),
  ],
  [
    'a PIN that was just refused and a next one',
    { flags: LOW, current: 'refused', next: 'untried', isOwnLowCount: true },
    NEXT,
  ],
  [
    'a just refused PIN before the final try',
    { flags: FINAL, current: 'refused', next: 'untried', isOwnLowCount: true },
    problem('PINFinalTry'),
  ],
  ['two refused PINs', { current: 'refused', next: 'refused' }, problem('PINIncorrect')],
  ['a refused PIN and an interrupted next one', { current: 'refused', next: 'unknown' }, problem('PINIncorrect')],
])('decides on %s', (_, input, expected) => {
  const facts: LoginInput = {
    flags: CLEAR,
    current: 'untried',
    next: 'missing',
    hasOtherAttempts: false,
    isOwnLowCount: false,
    isForced: false,
    ...input,
  };
  expect(decideLogin(facts)).toEqual(expected);
});
