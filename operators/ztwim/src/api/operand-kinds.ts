/** OPERAND_KINDS are the kinds of the operands, in the order in which results list them. */
export const OPERAND_KINDS = ['SpireServer', 'SpireAgent', 'SpiffeCSIDriver', 'SpireOIDCDiscoveryProvider'] as const;

/** OperandKind is the kind of an operand. */
export type OperandKind = (typeof OPERAND_KINDS)[number];
