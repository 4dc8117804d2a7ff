import { expect, it } from 'vitest';
import { matchingTokens, type TokenChoice, tokenNotFound } from './choose-token.ts';

const token = (slotId: number, label: string, serialNumber: string, isUserPinInitialized = true) => ({
  slotId,
  label,
  serialNumber,
  isUserPinInitialized,
});
const TOKENS = [
  token(0, '', 'F0', false),
  token(1, 'pico', 'A1'),
  token(2, 'pico', 'B2'),
  token(3, 'nitro', 'C3'),
  token(4, 'smart', 'DC6A33145E23A42A'),
];

it.each<[string, TokenChoice, readonly number[]]>([
  ['the label', { tokenLabel: 'nitro' }, [3]],
  ['the label before the serial number and the slot', { tokenLabel: 'nitro', serialNumber: 'A1', slotId: 2 }, [3]],
  ['the label and the serial number', { tokenLabel: 'pico', serialNumber: 'B2' }, [2]],
  ['the label and the slot', { tokenLabel: 'pico', serialNumber: 'unknown', slotId: 1 }, [1]],
  ['no other label', { tokenLabel: 'missing', serialNumber: 'A1', slotId: 1 }, []],
  ['both tokens with the label', { tokenLabel: 'pico' }, [1, 2]],
  ['the serial number in any case', { serialNumber: 'dc6a33145e23a42a', slotId: 1 }, [4]],
  ['the slot', { serialNumber: 'unknown', slotId: 3 }, [3]],
  ['the slot 0 only if its token has a PIN', { slotId: 0 }, [1, 2, 3, 4]],
  ['all tokens with a PIN', {}, [1, 2, 3, 4]],
])('chooses by %s', (_, choice, expected) => {
  expect(matchingTokens(TOKENS, choice).map(({ slotId }) => slotId)).toEqual(expected);
});

it('chooses the only token', () => {
  const only = [token(0, '', '', false), token(9, 'pico', 'A1')];
  expect(matchingTokens(only, { serialNumber: 'usb', slotId: 0 }).map(({ slotId }) => slotId)).toEqual([9]);
});

it('lists label and serial number of the tokens that it found', () => {
  expect(tokenNotFound(0, TOKENS, { tokenLabel: 'x"y' })).toMatchObject({
    problem: 'TokenNotFound',
    message:
      'there is no token with the label "x\\"y"; plug it in, or correct tokenLabel; found: a blank token (serial number F0), "pico" (serial number A1), "pico" (serial number B2), "nitro" (serial number C3), "smart" (serial number DC6A33145E23A42A)',
  });
  const many = Array.from({ length: 20 }, (_, index) => token(index, `t${index}`, ''));
  expect(tokenNotFound(20, many, {}).message).toContain('there are 20 tokens; set tokenLabel or slotId; found: "t0"');
  expect(tokenNotFound(20, many, {}).message).toMatch(/"t7" \(serial number unknown\), 12 more$/);
});
