package shop;

import java.util.List;
import java.util.function.*;
import static java.lang.Math.max;
import static shop.Prices.*;

class Empty {}
