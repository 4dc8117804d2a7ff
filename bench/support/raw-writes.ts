import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Report, startSubject, subjectArguments } from './run-subject.ts';
import type { Scene } from './scene.ts';

/** WrittenObject is a ConfigMap or a Secret as written by a client, without server-set fields. */
export interface WrittenObject {
  readonly apiVersion: 'v1';
  readonly kind: 'ConfigMap' | 'Secret';
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
  /** The type of a Secret. */
  readonly type?: string;
}

/** RawWrites configures what the subject `raw-writes` writes. */
export interface RawWrites {
  /** Where objects are written: each is named after the command plus `suffix`. */
  readonly targets: readonly { readonly namespace: string; readonly suffix?: string }[];
  /** The content of every object, except its name and its `data.revision`. */
  readonly template: WrittenObject;
  readonly inFlight: number;
  /** Create and replace, the cheapest writes, or server-side apply. */
  readonly style: 'replace' | 'apply';
}

/** RawWriter is the process that writes. */
export interface RawWriter extends AsyncDisposable {
  /** write writes every object once, and returns the report of the process. The revision of a Secret is base64-encoded. */
  write(order: 'create' | 'update', name: string, revision: string): Promise<Report>;
}

const timeoutMs = 120_000;

/** startRawWriter starts the bare loop and waits until it is connected. */
export async function startRawWriter(scene: Scene, writes: RawWrites): Promise<RawWriter> {
  const file = join(scene.folder, 'raw-writes.json');
  writeFileSync(file, JSON.stringify(writes));
  const running = await startSubject({ command: scene.command('raw-writes'), args: subjectArguments(scene, { file }) });
  return {
    async write(order, name, revision) {
      running.send(`${order} ${name} ${revision}`);
      return await running.next(timeoutMs);
    },
    [Symbol.asyncDispose]: () => running.release(),
  };
}

/** asWritten removes what the server added to a stored object, so that an object of the same size can be written again. */
export function asWritten(stored: string): WrittenObject {
  const { kind, metadata, data, type } = JSON.parse(stored) as WrittenObject;
  const { labels, annotations, ownerReferences } = metadata;
  return {
    apiVersion: 'v1',
    kind,
    metadata: {
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    ...(data === undefined ? {} : { data }),
    ...(type === undefined ? {} : { type }),
  };
}
