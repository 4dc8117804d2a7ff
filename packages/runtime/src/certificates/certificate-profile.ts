import { type OperatorId, operatorIdentity } from '../identity/operator-identity.ts';

/** ErrorCode is the code of a BowlineError. */
export type ErrorCode = `BOWLINE_${string}`;

/** CertificateTerms holds the words for certificates in messages, and the codes of errors about them. */
export interface CertificateTerms {
  /** What a certificate is called: `certificate`, `webhook certificate`. */
  readonly noun: string;
  /** What the names in a certificate are, for messages. */
  readonly nameUse: string;
  readonly codes: {
    /** A certificate cannot be read or used. */
    readonly unusable: ErrorCode;
    /** A Secret belongs to another owner. */
    readonly foreign: ErrorCode;
    /** Another client keeps changing what is managed here. */
    readonly contested: ErrorCode;
  };
}

/**
 * CertificateProfile holds the names under which an operator keeps certificates of one purpose in the cluster. They are
 * part of stored objects: changing one breaks existing installations.
 */
export interface CertificateProfile extends CertificateTerms {
  /** The operator's name, which is the value of `label`. */
  readonly operator: string;
  /** The value of the label `managed-by`. */
  readonly vendor: string;
  /** The label of the Secret. */
  readonly label: string;
  /** The annotation of the Secret: until when the previous CAs are trusted. */
  readonly previousAuthorityUntil: string;
  readonly fieldManager: string;
  /** The name of the metric for the expiry of the served certificate. */
  readonly expiryMetric: string;
}

/** CERTIFICATE_TERMS are the terms for certificates without a special purpose. */
export const CERTIFICATE_TERMS: CertificateTerms = {
  noun: 'certificate',
  nameUse: 'the names that its peers expect',
  codes: {
    unusable: 'BOWLINE_CERTIFICATE_UNUSABLE',
    foreign: 'BOWLINE_CERTIFICATE_SECRET_FOREIGN',
    contested: 'BOWLINE_CERTIFICATE_CONTESTED',
  },
};

/** certificateProfile returns the profile of an operator's own certificates, which have nothing to do with webhooks. */
export function certificateProfile(operator: OperatorId): CertificateProfile {
  const { name, domain, vendor, objectName } = operatorIdentity(operator);
  return {
    ...CERTIFICATE_TERMS,
    operator: name,
    vendor,
    label: `certificates.${domain}/operator`,
    previousAuthorityUntil: `certificates.${domain}/previous-ca-until`,
    fieldManager: `${objectName}-certificates`,
    expiryMetric: 'bowline_certificate_expiry_timestamp_seconds',
  };
}
