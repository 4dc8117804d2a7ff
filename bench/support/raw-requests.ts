import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RawRequest } from './raw-request.ts';
import { type Report, startSubject, subjectArguments } from './run-subject.ts';
import type { Scene } from './scene.ts';

/** RawSender is a bare loop in its own process that sends prepared requests. */
export interface RawSender extends AsyncDisposable {
  /** load passes the requests to the process. */
  load(requests: readonly RawRequest[]): Promise<void>;
  /** send sends all loaded requests, and returns the report of the process: `ms` and `cpuMs`. */
  send(): Promise<Report>;
}

const timeoutMs = 120_000;

/** startRawSender starts the bare loop and waits until it is connected. */
export async function startRawSender(scene: Scene, inFlight: number): Promise<RawSender> {
  const file = join(scene.folder, 'raw-requests.json');
  const running = await startSubject({
    command: scene.command('raw-requests'),
    args: subjectArguments(scene, { inFlight }),
  });
  return {
    async load(requests) {
      writeFileSync(file, JSON.stringify(requests));
      running.send(`load ${file}`);
      await running.next(timeoutMs);
    },
    async send() {
      running.send('send');
      return await running.next(timeoutMs);
    },
    [Symbol.asyncDispose]: () => running.release(),
  };
}
