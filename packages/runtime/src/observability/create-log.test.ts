import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { BowlineError } from '../errors/bowline-error.ts';
import { type CreateLogOptions, createLog } from './create-log.ts';
import type { Log } from './log.ts';

function capture(options: CreateLogOptions = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { lines, log: createLog({ destination, clock: new VirtualClock(), ...options }) };
}

function only(write: (log: Log) => void, options?: CreateLogOptions): Record<string, unknown> {
  const { lines, log } = capture(options);
  write(log);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

describe('createLog', () => {
  it('writes one JSON object per line with level, time and message first', () => {
    const { lines, log } = capture();
    log.with({ controller: 'copy' }).with({ reconcileId: 'r1' }).info('copied', { name: 'a', count: 2 });
    expect(lines).toEqual([
      '{"level":"info","time":"2026-01-01T00:00:00.000Z","controller":"copy","reconcileId":"r1","name":"a","count":2,"msg":"copied"}\n',
    ]);
  });

  it('writes human-readable text on one line, quoting control characters and spaces', () => {
    const { lines, log } = capture({ format: 'text' });
    log.warn('not so good', { name: 'a/b', why: 'two words\nand \u001b[31mred' });
    expect(lines).toEqual([
      '2026-01-01T00:00:00.000Z WARN  not so good  name=a/b  why="two words\\nand \\u001b[31mred"\n',
    ]);
  });

  it('omits lines below its level', () => {
    const { lines, log } = capture({ level: 'warn' });
    log.debug('no');
    log.info('no');
    log.warn('yes');
    log.with({ a: 1 }).error('yes');
    expect(lines).toHaveLength(2);
  });

  it('rejects an unknown level and lists the valid ones', () => {
    const options = { level: 'loud' } as unknown as CreateLogOptions;
    expect(() => createLog(options)).toThrow('use one of debug, info, warn, error');
  });

  it('prints code, status and causes of an error, and a stack only for unexpected errors', () => {
    const cause = new TypeError('inner');
    const error = Object.assign(new BowlineError('BOWLINE_TEST', 'outer', { cause }), { status: 409 });
    const line = only((log) => log.error('failed', { error }));
    expect(line.error).toMatchObject({ code: 'BOWLINE_TEST', message: 'outer', status: 409 });
    expect(line.error).not.toHaveProperty('stack');
    expect(line.error).toMatchObject({ cause: { name: 'TypeError', message: 'inner' } });
    expect((line.error as { cause: { stack: string } }).cause.stack).toContain('create-log.test');
  });

  it('prints an expected error as its message and code in text, an unexpected one completely', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
    const { lines, log } = capture({ format: 'text' });
    log.error('failed', { error: new BowlineError('BOWLINE_TEST', 'no server', { cause: refused }) });
    log.error('failed', { error: new BowlineError('BOWLINE_TEST', 'no server', { cause: new TypeError('bug') }) });
    expect(lines[0]).toMatch(/error="no server" \[BOWLINE_TEST\]\n$/);
    expect(lines[1]).toContain('create-log.test');
  });

  it('truncates an endless chain of causes', () => {
    const error = new Error('loop');
    error.cause = error;
    expect(() => only((log) => log.error('failed', { error }))).not.toThrow();
  });

  it.each([
    ['password'],
    ['dbPassword'],
    ['token'],
    ['bearer_token'],
    ['Authorization'],
    ['client-key-data'],
    ['secretAccessKey'],
    ['stringData'],
    ['tls.key'],
    ['pin'],
  ])('redacts the value of a field named %s at any depth', (name) => {
    const { lines, log } = capture();
    log.info('top', { [name]: 'canary' });
    log.with({ [name]: 'canary' }).info('child');
    log.info('deep', { request: { list: [{ [name]: 'canary' }] } });
    expect(lines.join('')).not.toContain('canary');
    expect(lines).toHaveLength(3);
  });

  it.each([['secretName'], ['namespace'], ['tokens_total'], ['key'], ['spinning']])(
    'keeps the value of a field named %s',
    (name) => {
      expect(only((log) => log.info('x', { [name]: 'kept' }))[name]).toBe('kept');
    },
  );

  it('redacts the data of a Secret that is logged as a whole', () => {
    const line = only((log) => log.info('x', { object: { kind: 'Secret', data: { a: 'canary' }, type: 'Opaque' } }));
    expect(line.object).toEqual({ kind: 'Secret', data: '[redacted]', type: 'Opaque' });
  });

  it('renames a field of the caller that has a reserved name', () => {
    expect(only((log) => log.info('real', { msg: 'other', level: 3 }))).toMatchObject({
      level: 'info',
      msg: 'real',
      msg_: 'other',
      level_: 3,
    });
  });

  it('limits the output of large and cyclic values', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const { lines, log } = capture();
    log.info('x', { cyclic, long: 'y'.repeat(1_000_000), many: Array.from({ length: 10_000 }, () => 'z'), n: 10n });
    expect(lines[0]?.length).toBeLessThan(20_000);
    expect(lines[0]).toContain('(9950 more)');
    expect(lines[0]).toContain('"n":"10"');
  });
});
