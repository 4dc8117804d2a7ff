import type { UserInfo } from '../authentication/user-info.ts';
import type { ApiResource, Draft } from '../registry/api-resource.ts';

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
  readonly signal: AbortSignal;
}

/** AdmissionPlugin judges writes, and may complete them. A refusal is a thrown StatusError. */
export interface AdmissionPlugin {
  readonly name: string;
  /** mutate may change the object in place. */
  mutate?(request: AdmissionRequest): Promise<void> | void;
  /** validate sees the object as it will be stored. */
  validate?(request: AdmissionRequest): Promise<void> | void;
}

/** Admission asks the plugins, in order: first all that change, then all that judge. */
export class Admission {
  readonly #plugins: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  async mutate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) await plugin.mutate?.(request);
  }

  async validate(request: AdmissionRequest): Promise<void> {
    for (const plugin of this.#plugins) await plugin.validate?.(request);
  }
}
