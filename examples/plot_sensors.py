"""
Choose sensors
==============

Sixty-four sensors read handwritten digits, one per pixel. If each sensor costs money, which twelve
would you keep, and how well do they predict the readings of the others?
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import landmarks as lm
from landmarks.errors import ConstantWarning

images = load_digits().data
train, test = train_test_split(images, random_state=0)

# %%
# The estimator centres the readings, chooses sensors, and learns how to rebuild all readings from
# those of the chosen sensors. Some pixels are dark in all images, of which a warning tells.

warnings.simplefilter("ignore", ConstantWarning)
selector = lm.ColumnSelector(12, random_state=0, center=True).fit(train)
print(f"kept: {sorted(selector.indices_.tolist())}")
print(f"variance of unseen readings explained: {selector.score(test):.1%}")

# %%
# Compare it with twelve random sensors, ten times, and with the best that any twelve directions can
# do.

random = [
    lm.ColumnSelector(12, method="uniform", random_state=seed, center=True).fit(train).score(test)
    for seed in range(10)
]
print(f"random sensors: {np.mean(random):.1%} on average, {max(random):.1%} at best")
print(
    f"our error is {selector.selection_.factor():.2f} times that of the best twelve "
    "directions, which need every sensor"
)

# %%
# How many are enough? One greedy run gives the error for every number.

curve = lm.path(lm.data(train - train.mean(axis=0)), range(1, 41))
print(
    f"90 % of the variance takes {curve.smallest(error=0.1)} sensors, 95 % "
    f"{curve.smallest(error=0.05)}"
)

# %%
# The readings of the twelve sensors, and the images rebuilt from them.

rebuilt = selector.inverse_transform(selector.transform(test[:6]))
figure, axes = plt.subplots(3, 6, figsize=(7, 3.6))
for column, (seen, guess) in enumerate(zip(test[:6], rebuilt, strict=True)):
    masked = np.where(selector.support_, seen, np.nan)
    for ax, picture in zip(axes[:, column], (seen, masked, guess), strict=True):
        ax.imshow(picture.reshape(8, 8), cmap="cividis", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
for ax, label in zip(axes[:, 0], ("all sensors", "the twelve", "rebuilt"), strict=True):
    ax.set_ylabel(label)
figure.tight_layout()
