export {
  type ConcurrencyOptions,
  forEachConcurrently,
  type ItemFailure,
} from './async/for-each-concurrently.ts';
export { untilAborted } from './async/until-aborted.ts';
export {
  type CertificateAuthorityOptions,
  type CertificateWithKey,
  createCertificateAuthority,
} from './certificates/certificate-authority.ts';
export {
  type CertificateUsage,
  type IssueCertificateOptions,
  issueCertificate,
} from './certificates/issue-certificate.ts';
export { createKeyPair, type KeyAlgorithm, type KeyPair, type KeyPairOptions } from './certificates/key-pair.ts';
export type { AlternativeNames } from './certificates/subject.ts';
export type { ValidityOptions } from './certificates/validity.ts';
export { type Clock, sleepOn, type Timer } from './clock/clock.ts';
export { systemClock } from './clock/system-clock.ts';
export { VirtualClock, type VirtualClockOptions } from './clock/virtual-clock.ts';
export { WakeSignal } from './clock/wake-signal.ts';
export { BoundedMap, type BoundedMapOptions } from './collections/bounded-map.ts';
export { memoizeByText } from './collections/memoize-by-text.ts';
export { BowlineError, type BowlineErrorOptions } from './errors/bowline-error.ts';
export { InputError } from './errors/input-error.ts';
export { appliedSet } from './field-set/applied-set.ts';
export { canonicalFields } from './field-set/canonical-fields.ts';
export { compareFields, type FieldChange } from './field-set/compare-fields.ts';
export { type FieldDifference, findDifference } from './field-set/field-difference.ts';
export { fieldPaths } from './field-set/field-paths.ts';
export { ANY_SHAPE, builtInShape, customShape, type FieldShape } from './field-set/field-shape.ts';
export { type FieldsV1, fieldBelow, hasField, parseFieldsV1 } from './field-set/fields-v1.ts';
export { appliedFields, type FieldManager, fieldManagers, managersOf } from './field-set/managed-fields.ts';
export { mergeFields } from './field-set/merge-fields.ts';
export { collapseAtomicFields } from './field-set/narrow-fields.ts';
export { ownedValues } from './field-set/owned-values.ts';
export { pruneFields } from './field-set/prune-fields.ts';
export {
  excludeFields,
  intersectFields,
  isEmptySet,
  NO_FIELDS,
  subtractFields,
  uniteFields,
} from './field-set/set-operations.ts';
export { shapeProblems } from './field-set/shape-problems.ts';
export { parseIp, parsePrefixLength } from './formats/ip-address.ts';
export { canonicalJson, readJson } from './json/canonical-json.ts';
export { quoteText } from './json/go-text.ts';
export { isObject, isSameJson, type JsonObject, setMember } from './json/json.ts';
export {
  JsonSyntaxError,
  MAX_JSON_DEPTH,
  type ParsedJson,
  type ParseJsonOptions,
  parseJson,
} from './json/parse-json.ts';
export { type YamlToken, yamlNestsDeeper } from './json/yaml-token-depth.ts';
export {
  applyJsonPatch,
  diffJsonPatch,
  formatPointer,
  type JsonPatchOperation,
  parsePointer,
} from './patch/json-patch.ts';
export { applyMergePatch, diffMergePatch } from './patch/merge-patch.ts';
export { strategicMerge } from './patch/strategic-merge.ts';
export { goText, goType, StrategicMergeError } from './patch/strategic-merge-error.ts';
export { anyGlob, type Glob, glob } from './patterns/glob.ts';
export { between, integerBelow, pick, type Random, seededRandom, systemRandom } from './random/random.ts';
export { escapeFieldValue, type FieldRequirement, parseFieldSelector } from './selectors/field-selector.ts';
export type { LabelOperator, LabelRequirement } from './selectors/label-requirement.ts';
export { labelSelector, validateLabelSelector } from './selectors/label-selector.ts';
export { labelKeyProblems, labelValueProblems } from './selectors/label-syntax.ts';
export { parseLabelSelector } from './selectors/parse-label-selector.ts';
export type { Selector } from './selectors/selector.ts';
export { contentKeyProblem, MAX_CONTENT_BYTES } from './validation/content.ts';
export { dns1035LabelProblems, dnsLabelProblems, dnsSubdomainProblems } from './validation/dns-names.ts';
export { describeProblems, type FieldProblem, type FieldProblemReason } from './validation/field-problem.ts';
export { shortenName } from './validation/shorten-name.ts';
export {
  formatDuration,
  formatDurationNs,
  parseDuration,
  parseDurationNs,
} from './values/duration.ts';
export {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  type QuantityFormat,
  subtractQuantities,
  wholeMilliUnits,
  wholeUnits,
} from './values/quantity.ts';
export { compareResourceVersions, isResourceVersion } from './values/resource-version.ts';
export { formatMicroTime, formatTime, parseTime } from './values/timestamp.ts';
