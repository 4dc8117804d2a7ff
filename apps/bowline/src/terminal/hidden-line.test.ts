import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { HiddenLine, readHiddenLine } from './hidden-line.ts';

it.each<[string, string]>([
  ['1234\r', '1234'],
  ['1234\n', '1234'],
  ['1234\u0004', '1234'],
  ['äß\u007F€\u007F\u007Fx\r', 'x'],
  ['\u007F\u007Fx\r', 'x'],
  ['wrong\u0015right\r', 'right'],
  ['a\u001B[D\u001B[1;5Cb\u001BOPc\u0001d\r', 'abcd'],
  ['\r', ''],
])('reads %j as %j', (typed, answer) => {
  const line = new HiddenLine(64);
  expect(line.push(Buffer.from(typed)).state).toBe('complete');
  expect(line.take()?.toString()).toBe(answer);
});

it('continues a line and an escape sequence in the next chunk', () => {
  const line = new HiddenLine(64);
  expect(line.push(Buffer.from('12\u001B'))).toEqual({ state: 'open', used: 3 });
  expect(line.push(Buffer.from('[A34\r56'))).toEqual({ state: 'complete', used: 5 });
  expect(line.take()?.toString()).toBe('1234');
});

it('reports a line that is too long, and Ctrl-C', () => {
  const line = new HiddenLine(4);
  expect(line.push(Buffer.from('12345\r')).state).toBe('complete');
  expect(line.take()).toBeUndefined();
  expect(new HiddenLine(4).push(Buffer.from('12\u0003')).state).toBe('interrupted');
});

/** fakeTerminal records the raw mode of a terminal and what is written to it. */
function fakeTerminal() {
  const events: string[] = [];
  const input = Object.assign(new PassThrough(), {
    setRawMode: (isRaw: boolean) => void events.push(isRaw ? 'raw' : 'cooked'),
  });
  const output = { write: (text: string) => void events.push(text) };
  const abort = new AbortController();
  const ask = (question: string) =>
    readHiddenLine(question, {
      input: input as never,
      output,
      maxBytes: 64,
      signal: abort.signal,
      interrupt: () => abort.abort(new Error('interrupted')),
    });
  return { events, input, ask };
}

it('displays the question only, and leaves pasted text for the next question', async () => {
  const { events, input, ask } = fakeTerminal();
  input.write('1234\r5678\r');
  expect((await ask('PIN: '))?.toString()).toBe('1234');
  expect((await ask('Again: '))?.toString()).toBe('5678');
  expect(events).toEqual(['raw', 'PIN: ', 'cooked', '\n', 'raw', 'Again: ', 'cooked', '\n']);
});

it('restores the terminal when the user interrupts it', async () => {
  const { events, input, ask } = fakeTerminal();
  input.write('12\u0003');
  await expect(ask('PIN: ')).rejects.toThrow('interrupted');
  expect(events).toEqual(['raw', 'PIN: ', 'cooked', '\n']);
});
