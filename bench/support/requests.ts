import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from './api.ts';

/** MERGE_PATCH is the content type of a JSON merge patch. */
export const MERGE_PATCH = 'application/merge-patch+json';

/** untilExists waits for an object, and returns it. */
export async function untilExists<T>(api: Api, path: string): Promise<T> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const { status, text } = await api.request('GET', path);
    if (status === 200) return JSON.parse(text) as T;
    if (performance.now() > deadline) throw new Error(`${path} does not exist: ${text.slice(0, 500)}`);
    await pause(20);
  }
}
