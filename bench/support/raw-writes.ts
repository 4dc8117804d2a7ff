import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Report, subjectArguments } from './run-subject.ts';
import type { Scene } from './scene.ts';
import { SubjectProcess } from './subject-process.ts';

/** WrittenObject is a ConfigMap or a Secret as somebody writes it: nothing in it is the server's. */
export interface WrittenObject {
  readonly apiVersion: 'v1';
  readonly kind: 'ConfigMap' | 'Secret';
  readonly metadata: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
  /** Of a Secret. */
  readonly type?: string;
}

/** RawWrites is what the subject `raw-writes` is asked to write. */
export interface RawWrites {
  /** Where objects are written: each is called what the order says, and `suffix`. */
  readonly targets: readonly { readonly namespace: string; readonly suffix?: string }[];
  /** Every object's content, but for its name and its `data.revision`. */
  readonly template: WrittenObject;
  readonly inFlight: number;
  /** Create and replace, the cheapest writes that there are, or server-side apply. */
  readonly style: 'replace' | 'apply';
}

/** RawWriter is the process that writes. */
export interface RawWriter extends AsyncDisposable {
  /** write writes every object once, and answers what the process reported. The revision of a Secret is base64. */
  write(order: 'create' | 'update', name: string, revision: string): Promise<Report>;
}

const timeoutMs = 120_000;

/** startRawWriter starts the bare loop and waits until it is connected. */
export async function startRawWriter(scene: Scene, writes: RawWrites): Promise<RawWriter> {
  const file = join(scene.folder, 'raw-writes.json');
  writeFileSync(file, JSON.stringify(writes));
  const running = new SubjectProcess(scene.command('raw-writes'), subjectArguments(scene, { file }));
  await running.next(timeoutMs);
  return {
    async write(order, name, revision) {
      running.tell(`${order} ${name} ${revision}`);
      return await running.next(timeoutMs);
    },
    [Symbol.asyncDispose]: () => running.release(),
  };
}

/** asWritten strips a stored object of what the server added, so that it can be written again, byte for byte as heavy. */
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
