"""Drawing from many changing weights: a binary tree of sums.

            10                weights 1 2 3 4; a draw of 0.35 * 10 = 3.5 goes right (3.5 >= 3), keeps 3.5 - 3 = 0.5,
         3      7             goes left (0.5 < 3): item 2.
        1  2   3  4

Promises
  - drawing and changing one weight take O(log n); the batched forms process level by level with numpy;
  - a parent is always exactly the float sum of its children, so rounding errors do not accumulate;
  - an item of weight 0 is never drawn.
"""

from array import array

import numpy as np

from aegir_rl.base.arrays import I64, Floats


class SumTree:
    """Non-negative finite weights of items 0 to n - 1; not checked here."""

    __slots__ = ("_leaves", "_sums", "_view", "items")

    def __init__(self, weights: Floats) -> None:
        self.items = len(weights)
        self._leaves = 1 << max(self.items - 1, 0).bit_length()
        # The array and its numpy view share memory: single numbers are read three times faster from the array.
        self._sums = array("d", bytes(16 * self._leaves))
        self._view = np.frombuffer(self._sums, np.float64)
        self.fill(weights)

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return self._sums[1]

    @property
    def weights(self) -> Floats:
        """A copy of all weights."""
        return self._view[self._leaves : self._leaves + self.items].copy()

    def fill(self, weights: Floats) -> None:
        """Replace all weights, in O(n)."""
        assert len(weights) == self.items
        self._view[self._leaves : self._leaves + self.items] = weights
        first = self._leaves
        while first > 1:
            level = self._view[first : 2 * first]
            np.add(level[::2], level[1::2], out=self._view[first // 2 : first])
            first //= 2

    def set_one(self, item: int, weight: float) -> None:
        """Change one weight."""
        sums = self._sums
        at = self._leaves + item
        sums[at] = weight
        while at > 1:
            at >>= 1
            sums[at] = sums[2 * at] + sums[2 * at + 1]

    def set_many(self, items: I64, weights: Floats) -> None:
        """Change many weights; for an item given twice the last weight is used."""
        view = self._view
        at = items + self._leaves
        view[at] = weights
        at = np.unique(at)
        while len(at) and at[0] > 1:
            at >>= 1
            at = at[np.append(True, at[1:] != at[:-1])]  # still sorted
            view[at] = view[2 * at] + view[2 * at + 1]

    def find(self, share: float) -> int:
        """Item at this share (0 to below 1) of the total, which must not be 0."""
        sums, leaves = self._sums, self._leaves
        rest, at = share * sums[1], 1
        while at < leaves:
            at *= 2
            left = sums[at]
            # Rounding may push the rest past the last weight; a side of weight 0 is never entered.
            if rest >= left and sums[at + 1] > 0:
                rest -= left
                at += 1
        return at - leaves

    def find_many(self, shares: Floats) -> I64:
        """Items at these shares of the total; equal to `find` for each."""
        view = self._view
        rest = shares * view[1]
        at = np.ones(len(shares), np.int64)
        first = 1
        while first < self._leaves:
            first, at = 2 * first, 2 * at
            left = view[at]
            right = (rest >= left) & (view[at + 1] > 0)
            rest -= np.where(right, left, 0)
            at += right
        return at - self._leaves

    def draw(self, count: int, random: np.random.Generator) -> I64:
        """Draw items by weight with replacement; the total must not be 0."""
        return self.find_many(random.random(count))

    def draw_distinct(self, count: int, random: np.random.Generator) -> I64:
        """Draw different items by weight, then, if fewer have a weight, uniformly among the others.

        The first occurrences in a sequence of draws are a draw without replacement.
        """
        weights = self.weights
        drawn = np.zeros(0, np.int64)
        while len(drawn) < count:
            if self.total <= 0:
                rest = np.setdiff1d(np.arange(self.items), drawn)
                drawn = np.append(drawn, random.permutation(rest)[: count - len(drawn)])
                break
            row = self.draw(2 * (count - len(drawn)), random)
            new = row[np.sort(np.unique(row, return_index=True)[1])][: count - len(drawn)]
            self.set_many(new, np.zeros(len(new)))
            drawn = np.append(drawn, new)
        self.set_many(drawn, weights[drawn])
        return drawn
