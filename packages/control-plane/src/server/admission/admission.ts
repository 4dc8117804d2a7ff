import type { UserInfo } from '../authentication/user-info.ts';
import type { ApiResource, Draft } from '../registry/api-resource.ts';
import { forbidden, type StatusCause, type StatusError } from '../status/api-status.ts';

/** AdmissionRequest is a write that is about to happen. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly resource: ApiResource;
  readonly subresource: string;
  readonly namespace: string;
  /** Empty while a generated name is not made yet. */
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
  /** annotate adds to what the audit log says of the request. Defaults to nothing. */
  readonly annotate?: ((key: string, value: string) => void) | undefined;
  readonly signal: AbortSignal;
}

/** AdmissionPlugin judges writes, and may complete them. A refusal is a thrown StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** mutate may change the object in place. 'again' asks all plugins once more, because of what it changed. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most have nothing to say.
  mutate?(request: AdmissionRequest): Promise<'again' | void> | 'again' | void;
  /** validate sees the object as it will be stored. */
  validate?(request: AdmissionRequest): Promise<void> | void;
  /** commit has the last word, in the moment before the object is stored: nothing can come between, so it cannot wait either. */
  commit?(request: AdmissionRequest): void;
}

/** Admission asks the plugins, in order: first all that change, then all that judge, at last those that judge the moment. */
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
      // Most answer at once, and a write has many of them: waiting for nothing would add up.
      const judgement = plugin.validate?.(request);
      if (judgement) await judgement;
    }
  }

  commit(request: AdmissionRequest): void {
    for (const plugin of this.#committing) plugin.commit?.(request);
  }

  async #mutateOnce(request: AdmissionRequest): Promise<boolean> {
    let again = false;
    for (const plugin of this.#mutating) {
      const judgement = plugin.mutate?.(request);
      if (judgement && (await judgement) === 'again') again = true;
    }
    return again;
  }
}

/** refuse is what somebody reads whose write a plugin does not let through. */
export function refuse(request: AdmissionRequest, why: string, causes?: StatusCause[]): StatusError {
  const { resource, name, object } = request;
  // The name may not be made yet, and then what it will begin with has to do.
  const { name: own, generateName } = object?.metadata ?? {};
  return forbidden(resource, name || own || generateName || 'Unknown', why, causes);
}
