import type { UserInfo } from '../authentication/user-info.ts';
import type { ApiResource, Draft } from '../registry/api-resource.ts';
import { forbidden, type StatusCause, type StatusError } from '../status/api-status.ts';

/** AdmissionRequest is a write that is about to be stored. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly resource: ApiResource;
  readonly subresource: string;
  readonly namespace: string;
  /** Empty while the name has not been generated yet. */
  readonly name: string;
  /** Undefined for DELETE. Mutating admission may change it in place. */
  readonly object: Draft | undefined;
  /** Undefined for CREATE. */
  readonly old: Draft | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The options of the request, for webhooks. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly warnings: string[];
  /** annotate adds an annotation to the audit event of the request. Defaults to doing nothing. */
  readonly annotate?: ((key: string, value: string) => void) | undefined;
  readonly signal: AbortSignal;
}

/** AdmissionPlugin validates writes and may complete them. It refuses a write by throwing a StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** mutate may change the object in place. It returns 'again' to run all plugins once more because of its change. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most plugins return nothing.
  mutate?(request: AdmissionRequest): Promise<'again' | void> | 'again' | void;
  /** validate receives the object as it will be stored. */
  validate?(request: AdmissionRequest): Promise<void> | void;
  /**
   * commit runs synchronously right before the object is stored: no other write can happen in between, so it cannot
   * await anything.
   */
  commit?(request: AdmissionRequest): void;
}

/**
 * Admission runs the plugins in order: first the mutating plugins, then the validating plugins, finally the plugins
 * that run inside the commit.
 */
export class Admission {
  readonly #mutating: readonly AdmissionPlugin[];
  readonly #validating: readonly AdmissionPlugin[];
  readonly #committing: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#mutating = plugins.filter((plugin) => plugin.mutate);
    this.#validating = plugins.filter((plugin) => plugin.validate);
    this.#committing = plugins.filter((plugin) => plugin.commit);
  }

  async mutate(request: AdmissionRequest): Promise<void> {
    if (await this.#mutateOnce(request)) await this.#mutateOnce(request);
  }

  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#validating) {
      // Most plugins return synchronously, and a write runs many of them: awaiting each one would add up.
      const result = plugin.validate?.(request);
      if (result) await result;
    }
  }

  commit(request: AdmissionRequest): void {
    for (const plugin of this.#committing) plugin.commit?.(request);
  }

  async #mutateOnce(request: AdmissionRequest): Promise<boolean> {
    let again = false;
    for (const plugin of this.#mutating) {
      const result = plugin.mutate?.(request);
      if (result && (await result) === 'again') again = true;
    }
    return again;
  }
}

/** refuse returns the error for a write that a plugin rejects. */
export function refuse(request: AdmissionRequest, why: string, causes?: StatusCause[]): StatusError {
  const { resource, name, object } = request;
  // The name may not be generated yet; its prefix is then the best name available.
  const { name: own, generateName } = object?.metadata ?? {};
  return forbidden(resource, name || own || generateName || 'Unknown', why, causes);
}
