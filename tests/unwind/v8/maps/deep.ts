// SPDX-License-Identifier: Apache-2.0
export interface Options { depth: number; leaf: () => number }

export class Walker {
  constructor(private readonly options: Options) {}

  descend(depth: number): number {
    if (depth <= 0)
      return this.options.leaf();
    return this.descend(depth - 1) + 1;
  }
}

export const viaArrow = (walker: Walker, depth: number): number => {
  return walker.descend(depth);
};
