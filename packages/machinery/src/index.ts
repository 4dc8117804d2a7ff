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
export { BowlineError, type BowlineErrorOptions } from './errors/bowline-error.ts';
export { between, integerBelow, pick, type Random, seededRandom, systemRandom } from './random/random.ts';
