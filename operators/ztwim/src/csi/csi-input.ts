import type { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import type { Component } from '../objects/labels.ts';
import type { OperandInput } from '../objects/operand-input.ts';
import { CSI_DRIVER } from '../spire/names.ts';

/** CsiInput is what the objects of a SpiffeCSIDriver follow from. */
export interface CsiInput extends OperandInput {
  readonly spec: SpiffeCSIDriver['spec'];
}

/** csiComponent returns how objects of the driver are labelled. */
export function csiComponent({ config }: OperandInput): Component {
  return { name: CSI_DRIVER, component: 'csi', image: config.images.spiffeCSIDriver };
}
