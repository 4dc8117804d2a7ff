import { afterEach, expect, test, vi } from 'vitest';
import { SubjectProcess } from './subject-process.ts';

const untilReleased = "process.stdin.on('end', () => process.exit(0)).resume();";

function run(code: string): SubjectProcess {
  return new SubjectProcess({ file: process.execPath, args: ['-e', code] }, []);
}

afterEach(() => {
  vi.unstubAllEnvs();
});

test('returns the lines of a subject one by one, and ends it when released', async () => {
  const subject = run(`console.log('{"a":1}\\n{"a":2}'); ${untilReleased}`);
  expect(await subject.next(30_000)).toEqual({ a: 1 });
  expect(await subject.next(30_000)).toEqual({ a: 2 });
  await subject.release();
});

test('sends lines to a subject', async () => {
  await using subject = run(
    "require('node:readline').createInterface({ input: process.stdin }).on('line', (l) => console.log(JSON.stringify({ l })));",
  );
  subject.send('create r1');
  expect(await subject.next(30_000)).toEqual({ l: 'create r1' });
});

test('reports the output of a subject that exited without a result', async () => {
  await using subject = run("console.error('no such cluster'); process.exit(3);");
  await expect(subject.next(30_000)).rejects.toThrow(/ended.*no such cluster/s);
});

test('does not wait forever', async () => {
  await using subject = run(untilReleased);
  await expect(subject.next(0)).rejects.toThrow(/printed nothing/);
});

test('reads memory and processor time of a subject', async () => {
  await using subject = run(
    `for (const end = process.cpuUsage().user + 50_000; process.cpuUsage().user < end; ); console.log('{}'); ${untilReleased}`,
  );
  await subject.next(30_000);
  expect(subject.cpuMs()).toBeGreaterThanOrEqual(50);
  expect(subject.memory().peakMb).toBeGreaterThan(10);
});

test('hides environment variables that would affect the measurement', async () => {
  vi.stubEnv('NODE_OPTIONS', '--no-warnings');
  await using subject = run(`console.log(JSON.stringify({ env: Object.keys(process.env) })); ${untilReleased}`);
  const { env } = await subject.next(30_000);
  expect(env).not.toContain('NODE_OPTIONS');
});
