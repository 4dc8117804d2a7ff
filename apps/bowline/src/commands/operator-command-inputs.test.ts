import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';
import { temporaryFiles } from '../testing/child-process.test-support.ts';
import { bowline, type CommandResult } from '../testing/test-operators.test-support.ts';

const open = (args: readonly string[], given: Parameters<typeof bowline>[1] = {}): Promise<CommandResult> =>
  bowline(['toolbox', 'lock', 'open', ...args], given);
const stdinOf = (...chunks: readonly (string | Uint8Array)[]) => ({
  stdin: () => Readable.from(chunks.map((chunk) => Buffer.from(chunk as string))),
});
const hex = (text: string): string => Buffer.from(text).toString('hex');

it('reads a secret from a file without its line end, and other content byte by byte', async () => {
  await using files = await temporaryFiles();
  const pin = await files.write('pin', '1234\r\n');
  const note = await files.write('note', '\u0000é\n');
  expect((await open(['--pin-file', pin])).out).toBe(`${hex('1234')} no note\n`);
  expect((await open(['--pin-file', pin, '--note-file', note])).out).toBe(`${hex('1234')} 00c3a90a\n`);
});

it('reads standard input if the file is -', async () => {
  expect((await open(['--pin-file', '-'], stdinOf('12', '34\n'))).out).toBe(`${hex('1234')} no note\n`);
  const binary = stdinOf(Uint8Array.of(0xff, 0x00, 0x0d, 0x0a));
  const args = ['--pin-file=-', '--note-file', '-'];
  const { code, err } = await open(args, binary);
  expect(err).toContain('--pin-file and --note-file both read standard input; pass a file to one of them');
  expect(code).toBe(2);
  await using files = await temporaryFiles();
  const pin = await files.write('pin', '1');
  expect((await open(['--pin-file', pin, '--note-file', '-'], binary)).out).toBe('31 ff000d0a\n');
});

it('asks on the terminal if no file is given', async () => {
  const asked: string[] = [];
  const askHidden = (question: string) => {
    asked.push(question);
    return Promise.resolve(Buffer.from('9876'));
  };
  expect((await open([], { askHidden })).out).toBe(`${hex('9876')} no note\n`);
  expect(asked).toEqual(['PIN: ']);
});

it('overwrites secrets when the command has ended', async () => {
  const secret = Buffer.from('9876');
  await open([], { askHidden: () => Promise.resolve(secret) });
  expect([...secret]).toEqual([0, 0, 0, 0]);
});

it.each<[string, readonly string[], Parameters<typeof bowline>[1], RegExp]>([
  [
    'a prompt without a terminal',
    [],
    {},
    /cannot ask "PIN:": standard input is not a terminal; pass --pin-file with a file, or - for standard input .*TERMINAL_MISSING/,
  ],
  ['an empty answer', [], { askHidden: () => Promise.resolve(Buffer.alloc(0)) }, /the answer is empty/],
  ['a long answer', [], { askHidden: () => Promise.resolve('too-long') }, /the answer is too long: at most 8 bytes/],
  [
    'too much on standard input',
    ['--pin-file', '-'],
    stdinOf('canary', 'canary'),
    /--pin-file - is too large: at most 8 /,
  ],
  ['an endless file', ['--pin-file', '/dev/zero'], {}, /--pin-file \/dev\/zero is too large: at most 8 bytes/],
  ['a missing file', ['--pin-file', '/nowhere/pin'], {}, /cannot read --pin-file \/nowhere\/pin: ENOENT/],
  ['a folder', ['--pin-file', '/'], {}, /cannot read --pin-file \/: EISDIR/],
  ['an empty file', ['--pin-file', '-'], stdinOf('\n'), /--pin-file - is empty/],
])('rejects %s with exit code 2, and prints no content', async (_, args, given, message) => {
  const { code, out, err } = await open(args, given);
  expect(err).toMatch(message);
  expect([code, out]).toEqual([2, '']);
  expect(err).not.toContain('canary');
});

it('rejects a command without its input with exit code 2', async () => {
  const { code, err } = await bowline(['toolbox', 'label']);
  expect(err).toContain('--text-file is missing; pass a file, or - for standard input');
  expect(code).toBe(2);
});

it('reads several files by key, at most as many bytes as declared in total', async () => {
  await using files = await temporaryFiles();
  const first = await files.write('first.txt', '1234');
  const second = await files.write('b=c', '5678');
  const fill = (...args: readonly string[]) => bowline(['toolbox', 'fill', ...args], stdinOf('x'));
  const flags = ['--from-file', first, '--from-file', `k=${second}`];
  expect((await fill(...flags)).out).toBe(`first.txt ${hex('1234')}\nk ${hex('5678')}\n`);
  expect((await fill('--from-file', 'k=-')).out).toBe(`k ${hex('x')}\n`);
  expect((await fill()).out).toBe('');
  for (const [args, message] of [
    [[...flags, '--from-file', 'l=-'], '--from-file - is too large: at most 8 bytes'],
    [['--from-file', first, '--from-file', `first.txt=${second}`], 'has the key "first.txt" twice'],
    [['--from-file', '-'], '--from-file - has no key; write KEY=-'],
    [['--from-file', `=${first}`], 'is not [KEY=]FILE'],
  ] as const) {
    expect(await fill(...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  }
});

it('lets a command ask questions, and recommends the alternative without a terminal', async () => {
  const answers = { ask: () => Promise.resolve('yes'), askHidden: () => Promise.resolve(Buffer.from('1')) };
  expect((await bowline(['toolbox', 'erase'], answers)).out).toBe('yes 1\n');
  const { code, err } = await bowline(['toolbox', 'erase']);
  expect(err).toContain('cannot ask "Empty the box?": standard input is not a terminal; pass --yes');
  expect(code).toBe(2);
});

it('shows the flags of inputs in the help', async () => {
  const { out } = await bowline(['toolbox', 'lock', 'open', '--help']);
  const text = out.replaceAll(/\s+/g, ' ');
  expect(text).toContain('--pin-file <file> the PIN: a file, or - for standard input (default: asks on the terminal)');
  expect(text).toContain('Example: bowline toolbox lock open --pin-file FILE --note-file FILE');
});

/** openInProcess runs `toolbox lock open` as a process whose standard input stays open. */
async function openInProcess(...args: readonly string[]) {
  const main = await bundledProgram('apps/bowline/src/testing/main.test-support.ts');
  const child = spawn(process.execPath, [main, 'toolbox', 'lock', 'open', ...args]);
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number, err })) };
}

it('ends at the limit although more could follow on standard input', { timeout: 60_000 }, async () => {
  const { child, ended } = await openInProcess('--pin-file', '-');
  child.stdin.write('123456789');
  expect(await ended).toEqual({ code: 2, err: expect.stringContaining('--pin-file - is too large') });
});

/** The program of util-linux that runs another one in a terminal. */
const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

/** typeInTerminal runs a command in a terminal, types the keys at its question, and returns all output. */
async function typeInTerminal(command: string, question: string, keys: string): Promise<string> {
  const main = await bundledProgram('apps/bowline/src/testing/main.test-support.ts');
  const terminal = spawn('script', ['-qec', `'${process.execPath}' '${main}' ${command}`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  let isAnswered = false;
  for await (const chunk of terminal.stdout as AsyncIterable<Buffer>) {
    output += chunk.toString();
    if (isAnswered || !output.includes(question)) continue;
    isAnswered = true;
    terminal.stdin.write(keys);
  }
  return stripVTControlCharacters(output).replaceAll('\r', '');
}

it.skipIf(!hasScript)('reads a secret from a real terminal without displaying it', { timeout: 60_000 }, async () => {
  expect(await typeInTerminal('toolbox lock open', 'PIN: ', 'canarz\u007Fy\r')).toBe(
    `PIN: \n${hex('canary')} no note\n`,
  );
});

it.skipIf(!hasScript).each([
  ['toolbox lock open', 'PIN: '],
  ['toolbox erase', 'Empty the box? '],
])('can interrupt %s at its question', { timeout: 60_000 }, async (command, question) => {
  const message = 'error: stopped by SIGINT; run the command again to continue [BOWLINE_INTERRUPTED]';
  const output = await typeInTerminal(command, question, '12\u0003');
  expect(output.split('\n').at(-2)).toContain(message);
  expect(output).not.toContain('    at ');
});
