"""Records: classes for all data that ccmatic writes, for itself or for other programs, and their codec.

Every class of these modules may be imported from here.
"""

from ccmatic.records.codec import *  # noqa: F403
from ccmatic.records.files import *  # noqa: F403
from ccmatic.records.fits import *  # noqa: F403
from ccmatic.records.judging import *  # noqa: F403
from ccmatic.records.measures import *  # noqa: F403
from ccmatic.records.policies import *  # noqa: F403
from ccmatic.records.proofs import *  # noqa: F403
from ccmatic.records.searches import *  # noqa: F403
from ccmatic.records.tradeoff import *  # noqa: F403
from ccmatic.records.verdicts import *  # noqa: F403
