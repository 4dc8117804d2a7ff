import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '@bowline/machinery';
import { hasCode } from '../engine/files/has-code.ts';
import { writeDurably } from '../engine/files/write-durably.ts';
import { STATE_FOLDER } from '../engine/tree/excluded-paths.ts';

/** Rejection is a commit that was rolled back. It is not tried again until another one arrives, or a retry is requested. */
export interface Rejection {
  readonly commit: string;
  /** The last request when it was rejected. */
  readonly trigger: string;
  /** The snapshot that the gateway returned to. */
  readonly snapshot: string;
  /** Why, for the report. */
  readonly reason: string;
  readonly message: string;
  /** Whether the gateway has loaded the snapshot. */
  readonly isDone: boolean;
}

const FILE = 'rejected.json';

/** Rejections remembers the commit that was rolled back, also across restarts. */
export class Rejections {
  readonly #dataFolder: string;
  #current: Rejection | undefined;

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder;
  }

  /** isActive is whether a commit is rejected. */
  get isActive(): boolean {
    return this.#current !== undefined;
  }

  /** load reads what an earlier process has rejected. */
  async load(): Promise<void> {
    this.#current = await readRejection(this.#dataFolder);
  }

  /** find returns the rejection of a commit. One that ends, with another commit or request, is removed. */
  async find(commit: string, trigger: string): Promise<Rejection | undefined> {
    const current = this.#current;
    if (current === undefined || (current.commit === commit && current.trigger === trigger)) return current;
    await this.set(undefined);
    return undefined;
  }

  /**
   * set makes a rejection durable before the rollback begins: an agent that is killed then continues the rollback, instead of trying
   * the commit again. Undefined removes it.
   */
  async set(rejection: Rejection | undefined): Promise<void> {
    this.#current = rejection;
    await writeRejection(this.#dataFolder, rejection);
  }
}

/** A missing or damaged rejection is undefined. */
async function readRejection(dataFolder: string): Promise<Rejection | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(dataFolder, STATE_FOLDER, FILE), 'utf8'));
    return isRejection(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function writeRejection(dataFolder: string, rejection: Rejection | undefined): Promise<void> {
  const path = join(dataFolder, STATE_FOLDER, FILE);
  if (rejection === undefined) await rm(path, { force: true });
  else await writeDurably(path, `${JSON.stringify(rejection)}\n`);
}

function isRejection(value: unknown): value is Rejection {
  if (!isObject(value)) return false;
  const { commit, trigger, snapshot, reason, message, isDone } = value;
  const isText = [commit, trigger, snapshot, reason, message].every((each) => typeof each === 'string');
  return isText && typeof isDone === 'boolean';
}
