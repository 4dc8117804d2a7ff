/** KeySelection is one key of the Secret, and where in the source its value is. */
export interface KeySelection {
  readonly target: string;
  /** A key of the source's object, or a dotted path into it. */
  readonly source: string;
}

/** SecretSyncRequest is one secret that a pod asks for: a valid entry of its annotation, with defaults. Its namespace is the pod's. */
export interface SecretSyncRequest {
  /** Where it stands in the annotation: `''`, or `secrets[2]`. For messages. */
  readonly field: string;
  readonly provider: string;
  /** As the pod says it, in the provider's format. */
  readonly path: string;
  readonly secretName: string;
  /** Undefined: all keys. */
  readonly keys: readonly KeySelection[] | undefined;
  /** Sources of keys that may be missing. */
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
  /** 0: only when something happens. */
  readonly refreshIntervalMs: number;
  readonly immutable: boolean;
  readonly region: string | undefined;
  readonly role: string | undefined;
  /** Undefined: as the namespace or the operator says. */
  readonly restart: boolean | undefined;
  /** A hash of all that decides the Secret's content: provider, path, version, region, role, keys, type, format, decode, template, immutable. */
  readonly hash: string;
}

/** AnnotationProblem is what is wrong with an annotation, or with one of its entries. */
export interface AnnotationProblem {
  readonly reason: 'AnnotationInvalid' | 'ProviderUnsupported';
  /** Names the field, what is wrong, and what would be right. */
  readonly message: string;
}

/** PodAnnotation is what the annotation `secret-sync` of a pod says. */
export interface PodAnnotation {
  /** The entries that are valid: a wrong one does not stop the others. */
  readonly requests: readonly SecretSyncRequest[];
  readonly problems: readonly AnnotationProblem[];
}
