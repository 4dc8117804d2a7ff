/** KeySelection is one key of the Secret, and the location of its value in the source. */
export interface KeySelection {
  readonly target: string;
  /** A key of the source's object, or a dotted path into it. */
  readonly source: string;
}

/**
 * SecretSyncRequest is one requested secret: a valid entry of a pod's annotation, with defaults. Its namespace is the
 * pod's.
 */
export interface SecretSyncRequest {
  /** Its path in the annotation: `''`, or `secrets[2]`. For messages. */
  readonly field: string;
  readonly provider: string;
  /** As written in the annotation, in the provider's format. */
  readonly path: string;
  readonly secretName: string;
  /** Undefined: all keys. */
  readonly keys: readonly KeySelection[] | undefined;
  /** The source keys that may be missing. */
  readonly optionalKeys: readonly string[];
  readonly missingKeyPolicy: 'Fail' | 'Ignore';
  readonly versionStage: string | undefined;
  readonly versionId: string | undefined;
  readonly type: string;
  readonly format: 'json' | 'raw' | 'binary';
  /** The key of a `raw` or `binary` value. */
  readonly key: string | undefined;
  readonly decode: 'None' | 'Base64' | 'Base64URL' | 'Auto';
  readonly template: Readonly<Record<string, string>> | undefined;
  readonly creationPolicy: 'Create' | 'Merge' | 'CreateOrMerge';
  readonly deletionPolicy: 'Retain' | 'Delete';
  /** 0: only when something changes. */
  readonly refreshIntervalMs: number;
  readonly immutable: boolean;
  readonly region: string | undefined;
  readonly role: string | undefined;
  /** Undefined: the setting of the namespace or of the operator applies. */
  readonly restart: boolean | undefined;
  /**
   * A hash of everything that determines the Secret's content: provider, path, version, region, role, keys, type,
   * format, decode, template, immutable.
   */
  readonly hash: string;
}

/** AnnotationProblem reports what is wrong with an annotation, or with one of its entries. */
export interface AnnotationProblem {
  readonly reason: 'AnnotationInvalid' | 'ProviderUnsupported';
  /** Names the field, the problem and its remedy. */
  readonly message: string;
}

/** PodAnnotation is the parsed annotation `secret-sync` of a pod. */
export interface PodAnnotation {
  /** The valid entries: an invalid one does not affect the others. */
  readonly requests: readonly SecretSyncRequest[];
  readonly problems: readonly AnnotationProblem[];
}
