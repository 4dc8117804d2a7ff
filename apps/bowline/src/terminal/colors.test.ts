import { expect, test } from 'vitest';
import { colorsFor } from './colors.ts';

const terminal = { isTTY: true };
const pipe = {};

test('a terminal gets colours, a pipe does not', () => {
  expect(colorsFor(terminal, { TERM: 'xterm' }).isColorSupported).toBe(true);
  expect(colorsFor(pipe, { TERM: 'xterm' }).isColorSupported).toBe(false);
  expect(colorsFor(pipe, { TERM: 'xterm', CI: 'true' }).red('error')).toBe('error');
  expect(colorsFor(terminal, { TERM: 'dumb' }).isColorSupported).toBe(false);
});

test('NO_COLOR takes precedence over FORCE_COLOR, and both over the terminal', () => {
  expect(colorsFor(terminal, { NO_COLOR: '1' }).isColorSupported).toBe(false);
  expect(colorsFor(pipe, { FORCE_COLOR: '1' }).isColorSupported).toBe(true);
  expect(colorsFor(terminal, { FORCE_COLOR: '0' }).isColorSupported).toBe(false);
  expect(colorsFor(pipe, { NO_COLOR: '1', FORCE_COLOR: '1' }).isColorSupported).toBe(false);
  // An empty variable has no effect, as https://no-color.org requires.
  expect(colorsFor(terminal, { NO_COLOR: '', FORCE_COLOR: '' }).isColorSupported).toBe(true);
});
