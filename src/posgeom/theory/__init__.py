"""The theorems of the paper, checked on a corpus and on a model of one's own."""

from posgeom.theory.attention_lipschitz import attention_lipschitz
from posgeom.theory.bounds import bounds
from posgeom.theory.collapse import collapse_check, collapse_checks
from posgeom.theory.empirical_ntk import empirical_kernel, kernel_drift, kernel_fit
from posgeom.theory.kernel_regime import ntk
from posgeom.theory.mds_claims import isometry, stress_and_strain
from posgeom.theory.mean_embeddings import mean_embedding_test, projected_embedding_test
from posgeom.theory.model_run import kernel_of_model, separation_of_model
from posgeom.theory.monotonicity import monotonicity_check
from posgeom.theory.necessity import necessity
from posgeom.theory.parametrisation import parametrisation
from posgeom.theory.separation import initial_separation, separation
from posgeom.theory.stationarity import stationarity
from posgeom.theory.stationary_families import stationary_families
from posgeom.theory.swap import swap_test, torch_loss
from posgeom.theory.verdict import Check, Verdict

__all__ = [
    "Check",
    "Verdict",
    "attention_lipschitz",
    "bounds",
    "collapse_check",
    "collapse_checks",
    "empirical_kernel",
    "initial_separation",
    "isometry",
    "kernel_drift",
    "kernel_fit",
    "kernel_of_model",
    "mean_embedding_test",
    "monotonicity_check",
    "necessity",
    "ntk",
    "parametrisation",
    "projected_embedding_test",
    "separation",
    "separation_of_model",
    "stationarity",
    "stationary_families",
    "stress_and_strain",
    "swap_test",
    "torch_loss",
]
